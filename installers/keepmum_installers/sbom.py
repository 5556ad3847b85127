"""What a release consists of, as a CycloneDX 1.6 document: the product, and each locked package with its hashes.

Source: https://cyclonedx.org/docs/1.6/json/, read 2026-11-22.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from keepmum_installers.product import Product

__all__ = ["render"]

_PACKAGE = re.compile(r"([A-Za-z0-9._-]+)==([^\s;]+)")
_HASH = re.compile(r"sha256:([0-9a-f]{64})")


def render(product: Product, lock: str) -> str:
    """The document for a version of the product and the lock of its packages; the same input gives the same bytes."""
    packages = list(_packages(lock))
    own = f"pkg:pypi/{product.name}@{product.version}"
    component = {
        "type": "application",
        "bom-ref": own,
        "name": product.name,
        "version": product.version,
        "description": product.description,
        "licenses": [{"license": {"id": product.licence}}],
        "purl": own,
        "externalReferences": [{"type": "website", "url": product.homepage}],
    }
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": component},
        "components": packages,
        "dependencies": [{"ref": own, "dependsOn": [each["bom-ref"] for each in packages]}],
    }
    return json.dumps(document, indent=1) + "\n"


def _packages(lock: str) -> Iterator[dict[str, object]]:
    """The component of each package; one that is locked in several versions for several platforms has several."""
    hashes: dict[tuple[str, str], list[str]] = {}
    package = ("", "")
    for line in lock.splitlines():
        if found := _PACKAGE.match(line):
            package = (found[1], found[2])
            hashes.setdefault(package, [])
        elif package[0]:
            hashes[package] += _HASH.findall(line)
    for (name, version), contents in hashes.items():
        address = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
        yield {
            "type": "library",
            "bom-ref": address,
            "name": name,
            "version": version,
            "scope": "optional",  # the core needs none
            "purl": address,
            "hashes": [{"alg": "SHA-256", "content": content} for content in dict.fromkeys(contents)],
        }
