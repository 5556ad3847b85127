"""Finds secrets in notes and keeps none: `scan`, `redact`, `allow`, and the `Finding` they speak in."""

from keepmum_scanner.allow import allow
from keepmum_scanner.finding import Finding
from keepmum_scanner.redact import redact
from keepmum_scanner.scan import scan

__all__ = ["Finding", "allow", "redact", "scan"]
