"""Writes mem0_history.db and mem0.json with the PyPI package mem0ai 2.2.1, whose memories are kept in a local Qdrant.

    pip install mem0ai==2.2.1; python make_mem0.py OUT.db OUT.json

Only the vectors and the language model are made up: `infer=False` stores what is given.
"""

import json
import os
import sys
import tempfile

os.environ["MEM0_TELEMETRY"] = "False"
os.environ["MEM0_DIR"] = tempfile.mkdtemp()

from mem0 import Memory  # noqa: E402
from mem0.embeddings.mock import MockEmbeddings  # noqa: E402
from mem0.utils.factory import EmbedderFactory, LlmFactory  # noqa: E402

EmbedderFactory.create = staticmethod(lambda *_: MockEmbeddings())
LlmFactory.create = staticmethod(lambda *_: None)


def main(history: str, export: str) -> None:
    memory = Memory.from_config({
        "history_db_path": history,
        "vector_store": {"provider": "qdrant", "config": {
            "path": tempfile.mkdtemp(), "embedding_model_dims": 10, "on_disk": False}},
    })
    texts = ("Prefers tabs over spaces", "Works on billing", "Живёт в Праге 🏰", "Uses vim")
    ids = [
        memory.add(text, user_id="ada", agent_id="cursor", run_id="run-1", infer=False,
                   metadata={"topic": "editor"})["results"][0]["id"]
        for text in texts
    ]
    memory.update(ids[1], "Works on billing and on search")
    memory.delete(ids[3])
    with open(export, "w", encoding="utf-8") as file:
        json.dump(memory.get_all(filters={"user_id": "ada"}), file, ensure_ascii=False, indent=1)


main(*sys.argv[1:])
