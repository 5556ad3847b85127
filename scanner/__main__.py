#!/usr/bin/env python3
"""`python3 scanner [FILE…]`: starts the command with this folder on `sys.path`; pre-commit runs this file too."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

try:
    from keepmum_scanner.cli import main
except Exception as error:  # noqa: BLE001 - a damaged file may raise anything; exit code 1 would mean that a secret was found
    sys.stderr.write(f"scanner: damaged ({type(error).__name__}), nothing was scanned; install it again\n")
    raise SystemExit(2) from None

raise SystemExit(main(sys.argv[1:]))
