#!/usr/bin/env python3
"""`python3 scanner [FILE…]`: puts this folder on the path, nothing else; pre-commit starts this file by itself."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

try:
    from keepmum_scanner.cli import main
except Exception as error:  # noqa: BLE001 - a damaged file raises anything; exit code 1 would say that a secret was found
    sys.stderr.write(f"scanner: damaged ({type(error).__name__}), nothing was scanned; install it again\n")
    raise SystemExit(2) from None

raise SystemExit(main(sys.argv[1:]))
