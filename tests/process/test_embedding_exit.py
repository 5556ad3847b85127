"""A process can end at any moment without a crash of its embedder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from embedding_models import Tiny

pytestmark = pytest.mark.heavy

LIMIT = 60  # seconds
_PROGRAM = """
import json, sys, time
from keepmum.embedding import BackgroundEmbedder
from keepmum.embedding.local_model import LocalModel
from keepmum.embedding.minilm import MiniLm
folder, installed, moment = json.loads(sys.argv[1])

def opened():
    embedder = MiniLm.open(folder, LocalModel("tiny", {}, installed))
    while moment == "reading":
        embedder.embed(["deploy the staging service " * 60])
        reading.append(1)
    return embedder

reading = []
background = BackgroundEmbedder(opened)
background.start()
deadline = time.monotonic() + 30
while time.monotonic() < deadline and not reading and moment not in sys.modules:
    pass
print("ends", flush=True)
"""


@pytest.mark.parametrize("moment", ["numpy", "onnxruntime", "onnxruntime.capi._pybind_state", "reading"])
def test_a_process_ends_cleanly_while_the_model_is_loading_or_embedding(moment: str, tmp_path: Path) -> None:
    tiny = Tiny(tmp_path)
    arguments = json.dumps([str(tiny.installed), tiny.model.installed, moment])
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, arguments],
            env=environ,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "ends\n", "")
