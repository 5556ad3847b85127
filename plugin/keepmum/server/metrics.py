"""Figures for Prometheus. No label names a project, a user, a key or a query."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from keepmum.server.edge.rates import RateLimits
from keepmum.server.edge.record import Record
from keepmum.service.team import Team

__all__ = ["Metrics"]

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})


class Metrics:
    """Counts requests, and reads the state of the team's memory when the figures are requested."""

    def __init__(self, team: Team, rates: RateLimits) -> None:
        self._team = team
        self._rates = rates
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "keepmum_requests", "Requests by route, method and status", ("route", "method", "status"), registry=registry
        )
        self._seconds = Histogram(
            "keepmum_request_seconds", "Time of a request by route", ("route",), registry=registry, buckets=_SECONDS
        )
        self._secrets = Counter("keepmum_refused_secrets", "Secrets refused, by rule", ("rule",), registry=registry)
        self._keys = Counter("keepmum_key_failures", "Requests without a valid key", registry=registry)
        self._gauges = {
            name: Gauge(f"keepmum_{name}", about, registry=registry)
            for name, about in (
                ("embed_queue", "Texts that are queued for embedding"),
                ("model_ready", "Whether searches use the embedding model"),
                ("isolation_faults", "Memories that a store returned against a grant; must be 0"),
                ("rate_limited", "Requests refused for the rate of their key"),
                ("audit_head", "Number of the last sealed row of the audit log; it never becomes less"),
                ("audit_unsealed", "Rows of the audit log that are not sealed yet"),
                ("audit_unsealed_age_seconds", "Age of the oldest of them"),
            )
        }

    def done(self, record: Record, method: str, seconds: float) -> None:
        """Count one response."""
        self._requests.labels(record.route, method if method in _METHODS else "other", str(record.status)).inc()
        self._seconds.labels(record.route).observe(seconds)
        if record.status == 401 or (record.status == 429 and not record.principal):  # or too many wrong ones
            self._keys.inc()

    def refused(self, rule: str) -> None:
        """Count one refused secret."""
        self._secrets.labels(rule).inc()

    def text(self) -> bytes:
        """All figures, in Prometheus's text format.

        Raises: StoreError.
        """
        head, unsealed = self._team.records.seal(), self._team.records.unsealed()
        for name, value in {
            "embed_queue": self._team.embed_queue,
            "model_ready": int(self._team.meaning == "ready"),
            "isolation_faults": self._team.shared.faults,
            "rate_limited": self._rates.refused,
            "audit_head": head.number,
            "audit_unsealed": unsealed.rows,
            "audit_unsealed_age_seconds": 0.0
            if unsealed.oldest is None
            else max(0.0, time.time() - unsealed.oldest / 1000),
        }.items():
            self._gauges[name].set(value)
        return generate_latest(self._registry)
