"""The server of a team: REST and MCP over HTTP, for many people with keys and roles."""
