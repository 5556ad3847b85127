"""A memory server of another vendor with one tool, which appends the arguments of each call to a file."""

from __future__ import annotations

__all__ = ["SERVER"]

SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "memory", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "create_entities", "description": "Keep entities.",
                             "_meta": {"anthropic/alwaysLoad": True},
                             "inputSchema": {"type": "object", "properties": {"entities": {"type": "array"}}}}]}
    elif method == "tools/call":
        with open(sys.argv[1], "a", encoding="utf-8") as kept:
            kept.write(json.dumps(message["params"]["arguments"]) + "\\n")
        result = {"content": [{"type": "text", "text": "kept"}]}
    elif method == "server/discover":
        fault = {"code": -32601, "message": "no"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": fault}), flush=True)
        continue
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
