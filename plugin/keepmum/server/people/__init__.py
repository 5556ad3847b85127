"""Who uses the server: principals with roles, and their keys."""
