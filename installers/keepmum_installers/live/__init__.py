"""`keepmum doctor --live`: tests whether the output of our hooks and tools reaches the model of the installed client.

The client runs headless, in a temporary home, against a scripted model on loopback. A new client is one module in this
package, and one line in `DRIVERS`.
"""

from __future__ import annotations

from collections.abc import Mapping

from keepmum_installers.live import claude_code, codex, copilot_cli, gemini_cli, opencode
from keepmum_installers.live.trial import Driver

__all__ = ["DRIVERS", "Driver"]

DRIVERS: Mapping[str, Driver] = {
    "claude-code": claude_code.ClaudeCode(),
    "codex": codex.Codex(),
    "copilot-cli": copilot_cli.CopilotCli(),
    "gemini-cli": gemini_cli.GeminiCli(),
    "opencode": opencode.OpenCode(),
}
