"""The memory of a team: one shared database, scanner and model, from which each request gets a service of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

from keepmum import embedding
from keepmum.core import validation
from keepmum.core.errors import InvalidInput
from keepmum.core.masking import CleanMemories
from keepmum.core.memory import LIMITS, Trust
from keepmum.embedding.background import BackgroundEmbedder
from keepmum.service import MemoryService, Place, ServiceOptions
from keepmum.service.embeddings import Embeddings
from keepmum.service.sizes import Counted
from keepmum.service.team_model import SharedModel, TeamEmbeddings
from keepmum.service.team_upkeep import TeamUpkeep
from keepmum.stores import Store
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.quota import UNLIMITED, QuotaLimits, Usage
from keepmum.stores.shared import PostgresSpec, QdrantSpec, SharedSpec, SharedStore, TeamSqliteSpec, open_shared
from keepmum.stores.team import (
    AuditFilter,
    AuditRow,
    Entry,
    Erasure,
    Key,
    Person,
    Session,
    TeamRecords,
    another_admin_than,
)
from keepmum.workspace import settings
from keepmum.workspace.allowlist import AllowlistScanner

__all__ = [
    "ORGANISATION",
    "AuditFilter",
    "AuditRow",
    "Entry",
    "Erasure",
    "Grant",
    "Key",
    "Person",
    "PostgresSpec",
    "QdrantSpec",
    "QuotaLimits",
    "Session",
    "SharedSpec",
    "SharedStore",
    "Team",
    "TeamRecords",
    "TeamSqliteSpec",
    "Usage",
    "another_admin_than",
    "create_collection",
    "create_database",
    "open_shared",
    "open_team",
]

_MOST_CHECKED = 10_000  # names that are remembered
_MOST_GRANTS = 1_000  # whose numbers of memories are remembered


def open_team(
    spec: SharedSpec,
    scan: validation.Scan,
    environ: Mapping[str, str] | None = None,
    limits: QuotaLimits = UNLIMITED,
) -> Team:
    """The team's memory in the database that `spec` describes, within these limits.

    With `environ`, searches use the model that the settings there choose; otherwise they are lexical.

    Raises: StoreError when it cannot be opened, SettingsError.
    """
    embedder = None if environ is None else embedding.in_background(settings.load(environ, None), environ)
    return Team(open_shared(spec, limits), scan, embedder)


def create_database(admin: str) -> tuple[str, str]:
    """Create roles and tables in a PostgreSQL database; returns the addresses for their owner and for requests.

    `admin` is the address for a superuser, which is used only here.

    Raises: StoreError.
    """
    from keepmum.stores import postgres

    return postgres.create_database(admin)


def create_collection(url: str, key: str, name: str) -> int | None:
    """Create a collection for memories in Qdrant; the number of memories if it was there.

    Raises: SettingsError when the key would travel unencrypted, StoreError.
    """
    from keepmum.stores import qdrant

    return qdrant.create(url, key, name)


class Team:
    """Creates the services of requests; everything that is costly to open is opened once and shared."""

    def __init__(self, shared: SharedStore, scan: validation.Scan, embedder: BackgroundEmbedder | None = None) -> None:
        self.shared = shared
        self.scan = scan
        whole = shared.acting(Grant(ORGANISATION))
        self._shared_model = None if embedder is None else SharedModel(embedder, whole)
        self._checked: set[tuple[str, str]] = set()  # fields with names that can be stored
        self._clean = CleanMemories(scan.allowed if isinstance(scan, AllowlistScanner) else lambda: None)
        self._counted: dict[Grant, Counted] = {}
        self._upkeep = TeamUpkeep(MemoryService(whole, scan, ServiceOptions(agent="keepmum", origin="server")), shared)

    def start(self) -> None:
        """Load the model and start the background work; without it, each request writes its own log."""
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
        curates: Callable[[str | None], bool] = lambda _: True,
        quiet: bool = False,
    ) -> Iterator[MemoryService]:
        """A service for one request: `actor` is named as the author, `agent` is the label of what it writes.

        What it writes to guide agents is from outside until a curator confirms it, except in the projects, None for
        none, that it `curates`. With `quiet`, showing a memory logs nothing.

        Raises: InvalidInput, SecretFound when a name cannot be stored.
        """
        self._check_names(place)
        options = ServiceOptions(
            place=place,
            agent=agent or "unknown",
            actor=actor,
            origin=origin,
            trust=trust,
            curates=curates,
            quiet=quiet,
            embeddings=self._embeddings,
            clean=self._clean,
            counted=self._counted_under(grant),
            one_request=True,
        )
        service = MemoryService(self.shared.acting(grant), self.scan, options)
        try:
            yield service
        finally:
            self._upkeep.take(grant, *service.context.log.take())

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

    def _counted_under(self, grant: Grant) -> Counted:
        """The numbers of memories that requests under this grant have counted."""
        if len(self._counted) >= _MOST_GRANTS:
            self._counted.clear()
        return self._counted.setdefault(grant, {})

    def _embeddings(self, store: Store) -> Embeddings:
        model = self._shared_model
        return Embeddings(store, None, 0.0, patient=False) if model is None else TeamEmbeddings(store, model)

    def projects_of(self, memory: str) -> set[str]:
        """The projects, of any key, that have a memory with this complete id."""
        store = self.shared.acting(Grant(ORGANISATION, None, frozenset()))
        return {each.project or "" for each in store.get([memory]) if each.status != "trashed"}

    def check(self) -> None:
        """Check that the database answers.

        Raises: StoreError.
        """
        self.shared.acting(Grant(ORGANISATION, None, frozenset())).changes()

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
        """How many texts are queued for embedding."""
        return 0 if self._shared_model is None else self._shared_model.waiting

    def close(self) -> None:
        """Finish writing and close the database."""
        if self._shared_model is not None:
            self._shared_model.close()
        self._upkeep.close()
        self.shared.close()
