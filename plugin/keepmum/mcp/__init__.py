"""The stdio MCP server, with a message loop of its own: a client waits only one to two seconds for a server.

serve       the command line
stdio       the process: descriptors, threads, signals, shutdown
session     the protocol of one connection
worker      opens the handlers late and runs one call at a time
calls       tools/call, resources/read and prompts/get
arguments   validates tool arguments against their schema
client      what a client says about itself
surface     tools, resources and prompts as data; the interface of handlers
dialects    the sets of tools

Nothing is imported here, to keep each module's import cost low.
"""
