"""The stdio MCP server: a small loop of our own, since a client gives a server one to two seconds to be there.

surface     what a server offers, as data; what handlers are given
rpc         JSON-RPC 2.0: bytes to messages and back
arguments   tool arguments, checked against the schema that the client was shown
client      what a client tells about itself
calls       the three requests that reach handlers
worker      the handlers' side of a session: opened late, one call at a time
session     one client's conversation: what each message is answered with
stdio       the process around it: descriptors, threads, signals, the end
faults      unexpected errors: where, never what

Nothing is imported here, so that a module costs what it needs and no more.
"""
