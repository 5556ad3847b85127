"""Whether a person runs a command, or an agent does.

An agent with a shell can open a terminal and clear its variables; SECURITY.md says so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from keepmum.core.memory import Trust

__all__ = ["AGENT_MARKERS", "is_agents", "trust_of_terminal"]

# Set by agents in the commands that they run. Those of editors, which people also have in their terminals, are not
# among them.
# Source: runs of Claude Code 2.1.329, Copilot CLI 1.0.102, Gemini CLI 0.61.0 and OpenCode 1.18.33 in November 2026;
# https://github.com/aws/aws-cdk-cli/blob/main/packages/aws-cdk/lib/cli/util/detect-agent.ts and
# https://github.com/vercel/vercel/blob/main/packages/detect-agent/src/index.ts, read 2026-11-22.
AGENT_MARKERS = (
    "AGENT", "AI_AGENT", "CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID",
    "CODEX_CI", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "COPILOT_AGENT_SESSION_ID",
    "COPILOT_CLI", "CURSOR_AGENT", "GEMINI_CLI", "OPENCODE", "OPENCODE_PID",
)  # fmt: skip


def trust_of_terminal(environ: Mapping[str, str]) -> Trust:
    """The trust of what this process writes: a person's at a terminal, on input and output, that no agent opened."""
    is_terminal = os.isatty(0) and os.isatty(1)
    return "person" if is_terminal and not is_agents(environ) else "agent"


def is_agents(environ: Mapping[str, str]) -> bool:
    """Whether an agent started this process."""
    return any(environ.get(name) for name in AGENT_MARKERS)
