"""Finds secrets in text without storing them: `scan`, `redact`, `allow`, `in_field`, and the value `Finding`."""

from keepmum_scanner.finding import Finding, allow, in_field, redact
from keepmum_scanner.scan import scan

__all__ = ["Finding", "allow", "in_field", "redact", "scan"]
