"""A proxy in front of another MCP server: it forwards every byte, except tool calls that contain a secret.

main      the command line
proxy     a local server: one thread per direction, and shutdown
remote    a server over Streamable HTTP
child     the local server as a process
lines     splits a stream into lines
gate      decides on one line from the client
calls     decides on a line that may be a tool call
verdict   the result of both
message   JSON with duplicate members preserved
fields    the strings of a call, and the secrets in them
scanning  the scanner without allowed findings
refusal   error messages for the client
results   masks secrets in responses
pending   requests without a response yet
output    writes of server and guard to the client

Nothing is imported here, to keep each module's import cost low.
"""
