"""The finder of `keepmum_hooks.home` serves our modules from bytecode, until that is suspected to be broken."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
folder, home_folder = sys.argv[1:]
sys.path.insert(0, folder)
from keepmum_hooks import home
home.use_bytecode(home_folder)
finder = sys.meta_path[0]
for name in ("keepmum_hooks.stop", "keepmum_hooks.missing", "json.decoder"):
    print(name, finder.find_spec(name, [folder + "/keepmum_hooks"]) is not None)
sys.pycache_prefix = None
print("reset", finder.find_spec("keepmum_hooks.stop", [folder + "/keepmum_hooks"]) is not None)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes, and so no finder")
def test_only_our_modules_are_served_and_none_after_a_reset(root: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(0o700)
    command = [sys.executable, "-I", "-S", "-c", SCRIPT, str(root / "hooks"), str(tmp_path / "home")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == [
        "keepmum_hooks.stop True", "keepmum_hooks.missing False", "json.decoder False", "reset False",
    ]  # fmt: skip
