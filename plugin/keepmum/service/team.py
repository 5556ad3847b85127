"""The memory of a team: one shared database, scanner and model, from which each request gets a service of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from keepmum import embedding
from keepmum.core import validation
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import LIMITS, Kind, LogFilter, Trust
from keepmum.embedding.background import BackgroundEmbedder
from keepmum.service import MemoryService, Place, ServiceOptions
from keepmum.service.embeddings import Embeddings
from keepmum.service.team_model import SharedModel, TeamEmbeddings
from keepmum.service.team_upkeep import TeamUpkeep
from keepmum.stores import Store
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.shared import PostgresSpec, SharedSpec, SharedStore, TeamSqliteSpec, open_shared
from keepmum.stores.team import AuditRow, Entry, Erasure, Key, Person, TeamRecords
from keepmum.workspace import settings

__all__ = [
    "ORGANISATION",
    "AuditRow",
    "Entry",
    "Erasure",
    "Grant",
    "Key",
    "Person",
    "PostgresSpec",
    "Team",
    "TeamRecords",
    "TeamSqliteSpec",
    "create_database",
    "migrate_database",
    "open_shared",
    "open_team",
]

_MOST_CHECKED = 10_000  # names that are remembered
_EVENTS = 100  # of one memory, to learn in which projects it was


def open_team(spec: SharedSpec, scan: validation.Scan, environ: Mapping[str, str] | None = None) -> Team:
    """The team's memory in the database that `spec` describes.

    With `environ`, searches use the model that the settings there choose; otherwise they are lexical.

    Raises: StoreError when it cannot be opened, SettingsError.
    """
    embedder = None if environ is None else embedding.in_background(settings.load(environ, None), environ)
    return Team(open_shared(spec), scan, embedder)


def create_database(admin: str) -> tuple[str, str]:
    """Create roles and tables in a PostgreSQL database; returns the addresses for their owner and for requests.

    `admin` is the address for a superuser, which is used only here.

    Raises: StoreError.
    """
    from keepmum.stores import postgres

    return postgres.create_database(admin)


def migrate_database(owner: str) -> list[str]:
    """Apply the missing migrations to a PostgreSQL database as the owner of its tables; returns their names.

    Raises: StoreError.
    """
    from keepmum.stores import postgres

    return postgres.migrate(owner)


class Team:
    """Hands out services; everything that is costly to open is opened once and shared."""

    def __init__(self, shared: SharedStore, scan: validation.Scan, embedder: BackgroundEmbedder | None = None) -> None:
        self.shared = shared
        self.scan = scan
        whole = shared.acting(Grant(ORGANISATION))
        self._shared_model = None if embedder is None else SharedModel(embedder, whole)
        self._checked: set[tuple[str, str]] = set()  # fields with names that can be stored
        self._upkeep = TeamUpkeep(MemoryService(whole, scan, ServiceOptions(agent="keepmum", origin="server")))

    def start(self) -> None:
        """Load the model and begin the work behind requests; without it, each request writes its own log."""
        self._upkeep.start()
        if self._shared_model is not None:
            self._shared_model.start()

    @contextlib.contextmanager
    def service(  # noqa: PLR0913 - who asks, where, and how
        self,
        grant: Grant,
        *,
        actor: str,
        agent: str = "",
        place: Place,
        origin: str,
        trust: Trust = "team",
        reviewed: frozenset[Kind] = frozenset(),
        quiet: bool = False,
    ) -> Iterator[MemoryService]:
        """A service for one request: `actor` is named as the author, `agent` is the label of what it writes.

        What it writes of the kinds `reviewed` is from outside until a curator confirms it. With `quiet`, showing a
        memory logs nothing.

        Raises: InvalidInput, SecretFound when a name cannot be stored.
        """
        self._check_names(place)
        options = ServiceOptions(
            place=place,
            agent=agent or "unknown",
            actor=actor,
            origin=origin,
            trust=trust,
            reviewed=reviewed,
            quiet=quiet,
            embeddings=self._embeddings,
        )
        service = MemoryService(self.shared.acting(grant), self.scan, options)
        try:
            yield service
        finally:
            entries, used, at = service.context.log.take()
            # They are written later, outside the grant: no mistake may put them into a project that cannot be read.
            allowed = [entry for entry in entries if grant.read is None or (entry.project or "") in grant.read]
            self._upkeep.take(allowed, used, at)

    def _check_names(self, place: Place) -> None:
        """Check the names that clients choose.

        They are stored and logged with whatever is done there, compared as they are, and separated by control
        characters.

        Raises: InvalidInput, SecretFound.
        """
        for field, name in (("project", place.project), ("session", place.session), ("user", place.user)):
            if not name or (field, name) in self._checked:
                continue
            if len(name) > LIMITS.name or not name.isprintable():
                raise InvalidInput(field, f"must be printable and have at most {LIMITS.name} characters")
            validation.refuse_secrets({field: name}, self.scan)
            if len(self._checked) < _MOST_CHECKED:
                self._checked.add((field, name))

    def _embeddings(self, store: Store) -> Embeddings:
        model = self._shared_model
        return Embeddings(store, None, 0.0, patient=False) if model is None else TeamEmbeddings(store, model)

    def projects_of(self, memory: str, *, past: bool) -> set[str]:
        """The projects, of any key, that have a memory with this complete id; with `past` also those that had it."""
        store = self.shared.acting(Grant(ORGANISATION, None, frozenset()))
        found = {each.project or "" for each in store.get([memory]) if each.status != "trashed"}
        events = store.activity(_EVENTS, wanted=LogFilter(memory=memory)) if past else []
        return found | {event.project or "" for event in events}

    def check(self) -> None:
        """Check that the database answers.

        Raises: StoreError.
        """
        self.shared.acting(Grant(ORGANISATION, frozenset(), frozenset())).changes()

    @property
    def records(self) -> TeamRecords:
        """People, keys and the audit log."""
        return self.shared.records

    @property
    def model(self) -> tuple[str, int] | None:
        """The name of the model and the length of its vectors; None while there is none."""
        opened = None if self._shared_model is None else self._shared_model.embedder.ready()
        return None if opened is None else (opened.model, opened.dimensions)

    @property
    def model_ready(self) -> bool:
        """Whether searches use the model, or there is none."""
        return self.meaning != "loading"

    @property
    def meaning(self) -> str:
        """The state of search by meaning: ready, loading, or off."""
        return "off" if self._shared_model is None else self._shared_model.state

    @property
    def embed_queue(self) -> int:
        """How many texts wait to be embedded."""
        return 0 if self._shared_model is None else self._shared_model.waiting

    def close(self) -> None:
        """Finish writing and close the database."""
        if self._shared_model is not None:
            self._shared_model.close()
        self._upkeep.close()
        self.shared.close()
