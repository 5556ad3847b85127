"""The guard's gate, called with Python values instead of JSON lines."""

from __future__ import annotations

import json

from keepmum.guard.gate import judge
from keepmum.guard.verdict import Verdict

__all__ = ["Gate"]


class Gate:
    """Judges messages that are given as Python values."""

    def judge(self, message: object) -> Verdict:
        return judge(self.line(message))

    def call(self, arguments: object, **members: object) -> Verdict:
        params = {"name": "create_entities", "arguments": arguments}
        return self.judge({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params, **members})

    def refusal(self, arguments: object) -> str:
        """The text of the refusal; fails when the call is not refused."""
        verdict = self.call(arguments)
        assert verdict.forward == b""
        assert isinstance(verdict.answer, dict)
        result = verdict.answer["result"]
        assert isinstance(result, dict)
        assert result["isError"] is True
        return str(result["content"][0]["text"])

    def line(self, message: object) -> bytes:
        return json.dumps(message).encode() + b"\n"
