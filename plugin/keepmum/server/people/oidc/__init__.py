"""People of the team's own identity provider (OpenID Connect): their access tokens, and their sign-in to the dashboard.

This server issues no tokens and knows no passwords. It reads two documents of the provider, checks what the provider
has signed, and takes name, roles and projects from it.
"""
