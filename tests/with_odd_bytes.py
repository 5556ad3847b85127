"""Runs tests while random bytes are odd: all digits, all letters, or all `-` and `_` when they are written down.

    python tests/with_odd_bytes.py -- tests/unit/server -n 2

Ids, keys and fingerprints are made of random bytes. A test that fails here but not alone depends on which ones: often
it looks for a short text such as "ada" where an id may hold it. Every process of this interpreter gets such bytes
meanwhile, unless it leaves site-packages out (`-S`).
"""

from __future__ import annotations

import os
import sys

_REAL = os.urandom
_SIGNS = bytes((0xFB, 0xEF, 0xBE, 0xFF, 0xF7, 0xDF))  # base64 writes them mostly as `-` and `_`
_ENOUGH = 8  # bytes; of fewer signs two texts would soon be the same


def install() -> None:
    """Let `os.urandom` return odd bytes in this process."""
    os.urandom = _odd
    if "random" in sys.modules:
        vars(sys.modules["random"])["_urandom"] = _odd


def _odd(size: int) -> bytes:
    """Random bytes; three times in four they have something in common."""
    data = _REAL(size)
    kind = _REAL(1)[0] % 4
    if kind == 0:  # hexadecimal digits from 0 to 9
        return bytes((byte >> 4) % 10 << 4 | (byte & 15) % 10 for byte in data)
    if kind == 1:  # from a to f
        return bytes((byte >> 4) % 6 + 10 << 4 | (byte & 15) % 6 + 10 for byte in data)
    if kind == 2 and size >= _ENOUGH:
        return bytes(_SIGNS[byte % len(_SIGNS)] for byte in data)
    return data


def main() -> int:
    """Run pytest; returns its exit status."""
    import argparse
    import shutil
    import subprocess
    import sysconfig
    from pathlib import Path

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tests", nargs="+", help="arguments of pytest")
    chosen = parser.parse_args()
    module = Path(sysconfig.get_path("purelib"), "keepmum_odd_bytes.py")
    startup = module.with_suffix(".pth")  # `site` imports what it names in every process
    try:
        shutil.copyfile(__file__, module)
        startup.write_text(f"import {module.stem}; {module.stem}.install()\n", encoding="utf-8")
        return subprocess.run([sys.executable, "-m", "pytest", "-q", *chosen.tests], check=False).returncode
    finally:
        startup.unlink(missing_ok=True)
        module.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
