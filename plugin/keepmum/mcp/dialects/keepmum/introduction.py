"""What a client called itself when it last opened the memory, for `keepmum doctor` and for whoever asks who it was."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping

from keepmum.core import validation
from keepmum.core.errors import ScannerFailed
from keepmum.mcp.surface import Context
from keepmum.system.private_files import replace_file
from keepmum.workspace import allowlist
from keepmum_hooks import places

__all__ = ["note"]


def note(context: Context, environ: Mapping[str, str]) -> None:
    """Leave name and version, as the client sent them, beside the heartbeats of its hooks; no word of a secret."""
    home = places.home(environ)
    text = json.dumps({"name": context.client_name, "version": context.agent_version}, ensure_ascii=False) + "\n"
    # A full disk or a scanner that fails keeps nobody from reading.
    with contextlib.suppress(OSError, ScannerFailed):
        if home is None or validation.scan_text(text, allowlist.AllowlistScanner(None)):
            return
        replace_file(places.heartbeat_file(home, places.plain_name(context.agent), "server"), text)
