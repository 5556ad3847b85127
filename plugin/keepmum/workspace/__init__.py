"""Where a session works and what applies there: project identity, settings, credentials, the allowlist, git."""
