"""The guard in front of another memory server: every byte passes, a tool call that holds a secret does not.

options   the command line
lines     a stream, cut at its line feeds
message   JSON as it was sent: every member, also one that is named twice
judging   the scanner, without what a person has allowed
fields    every string of a call, and the secrets in them
refusal   what the client is told
gate      what becomes of one line from the client
calls     what becomes of one that may be a tool call
pending   the requests that the server still owes an answer to
results   answers with their secrets masked
output    the way to the client, shared by the server and the guard
child     the server as a process
proxy     the two directions, and the end
remote    the same in front of a server that is reached over HTTP

Nothing is imported here, so that a module costs what it needs and no more.
"""
