"""Writes memory_service.db with the PyPI package mcp-memory-service 12.4.0, and the export that it makes of that.

    pip install mcp-memory-service==12.4.0 sqlite-vec; python make_memory_service.py OUT.db OUT.json

Only the vectors are made up: a model would have to be downloaded, and the import computes them again.
"""

import asyncio
import pathlib
import sys

import numpy
from mcp_memory_service.models.memory import Memory
from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage
from mcp_memory_service.sync.exporter import MemoryExporter
from mcp_memory_service.utils.hashing import generate_content_hash

START = 1_767_605_400.0  # 2026-01-05 09:30 UTC
MEMORIES = (
    ("Chose PostgreSQL 16 for orders", ["db", "proj:shop"], "decision", {"source": "ada", "access_count": 4}),
    ("The queue drops messages above 256 KB", ["queue"], "bug", {"ticket": 12}),
    ("Выпуски по вторникам – リリースは火曜日 🚀", ["release"], "reference", {}),
    ("Never force-push to main", [], "best_practice", {"quality_score": 0.9}),
)


class Model:
    """Gives vectors without a model, far from each other."""

    def encode(self, texts, **_):
        rows = [numpy.random.default_rng(abs(hash(text))).standard_normal(384) for text in texts]
        return numpy.array([row / numpy.linalg.norm(row) for row in rows], dtype=numpy.float32)


async def main(path: str, export: str) -> None:
    storage = SqliteVecMemoryStorage(path)

    async def no_model() -> None:
        storage.embedding_model = Model()

    storage._initialize_embedding_model = no_model
    await storage.initialize()
    storage.embedding_model = Model()
    hashes = []
    for number, (content, tags, kind, metadata) in enumerate(MEMORIES):
        at = START + number * 86_400
        memory = Memory(
            content=content, content_hash=generate_content_hash(content), tags=tags, memory_type=kind,
            metadata=metadata, created_at=at, updated_at=at + 60,
        )
        print(await storage.store(memory))
        hashes.append(memory.content_hash)
    print(await storage.update_memory_versioned(hashes[1], "The queue drops messages above 1 MB", new_tags=["queue"]))
    print(await storage.delete(hashes[3]))
    await MemoryExporter(storage).export_to_json(pathlib.Path(export))
    storage.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    storage.conn.close()


asyncio.run(main(*sys.argv[1:]))
