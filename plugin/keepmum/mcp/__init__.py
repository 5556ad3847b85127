"""The stdio MCP server: a small loop of our own, since a client gives a server one to two seconds to be there.

surface     what a server offers, as data; what handlers are given
arguments   tool arguments, checked against the schema that the client was shown
rpc         JSON-RPC 2.0: bytes to messages and back
calls       the three requests that reach handlers
client      what a client tells about itself
session     one client's conversation
stdio       the process: descriptors, threads, signals, the end

Nothing is imported here, so that a module costs what it needs and no more.
"""
