"""Operating-system access: private files, file locks, folders, threads, native libraries."""
