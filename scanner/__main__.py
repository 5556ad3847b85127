"""`python3 scanner [--json] [FILE…]`: puts this folder on the path, nothing else."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from keepmum_scanner.cli import main

raise SystemExit(main(sys.argv[1:]))
