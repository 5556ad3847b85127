"""`keepmum doctor --live`: does what our hooks and tools say reach the model, in the client that is installed here?

The client runs headless, in a home that is thrown away, and talks to a model of ours on loopback. A new client is one
module beside this one, and one line in `DRIVERS`.
"""

from __future__ import annotations

from collections.abc import Mapping

from keepmum_installers.live import claude_code, codex, copilot_cli, gemini_cli, opencode
from keepmum_installers.live.driver import Driver

__all__ = ["DRIVERS", "Driver"]

DRIVERS: Mapping[str, Driver] = {
    "claude-code": claude_code.ClaudeCode(),
    "codex": codex.Codex(),
    "copilot-cli": copilot_cli.CopilotCli(),
    "gemini-cli": gemini_cli.GeminiCli(),
    "opencode": opencode.OpenCode(),
}
