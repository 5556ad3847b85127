from __future__ import annotations

from pathlib import Path

import pytest

from contract.stores import NOW, a_memory
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Change
from keepmum.service.idempotency import Claim, once
from keepmum.stores.sqlite import SqliteStore
from keepmum.stores.sqlite.team_records import SqliteTeamRecords, save_claim

CLAIM = Claim("p_1", "request-1", b"digest", NOW)


class Server:
    def __init__(self, folder: Path) -> None:
        self.store = SqliteStore(str(folder / "memory.db"), along=save_claim)
        self.records = SqliteTeamRecords(self.store.database)
        self.runs = 0

    def send(self, claim: Claim = CLAIM, *, fails: bool = False) -> tuple[str, ...]:
        def run() -> tuple[str, ...]:
            self.runs += 1
            memory = a_memory()
            self.store.commit([Change(None, memory)])
            if fails:
                raise InvalidInput("text", "is not good")
            return (memory.id,)

        return once(self.records, claim, run, lambda ids: ids)


def test_a_repeated_request_runs_once_and_answers_alike(tmp_path: Path) -> None:
    server = Server(tmp_path)
    assert server.send() == server.send()
    assert server.runs == 1


def test_another_request_with_the_key_is_refused(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.send()
    with pytest.raises(InvalidInput, match="Idempotency-Key"):
        server.send(CLAIM._replace(digest=b"other"))


def test_an_unkept_answer_lets_the_request_run_again(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.send()
    server.records.forget_answers(NOW + 1)
    server.send()
    assert server.runs == 2
