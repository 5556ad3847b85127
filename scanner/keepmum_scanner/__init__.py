"""Finds secrets in text without storing them: `scan`, `redact`, `allow`, and the value `Finding`."""

from keepmum_scanner.finding import Finding, allow, redact
from keepmum_scanner.scan import scan

__all__ = ["Finding", "allow", "redact", "scan"]
