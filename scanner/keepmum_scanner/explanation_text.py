"""An explanation of the scanner as lines for a terminal."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.explain import Facts

_SINGULAR, _PLURAL = "character", "characters"


def lines(facts: Facts) -> Iterator[str]:
    """What is known of the value, of its name, and what decided."""
    counts = ", ".join(f"{count} {kind}" for kind, count in facts["characters"].items() if count)
    shown = ", ".join(facts["shapes"]) or "none that is public"
    yield f"value: {_characters(facts['length'])} ({counts}), {facts['bits']} bits each; shape: {shown}"
    name = facts["name"]
    if name is None:
        yield "name: none near it"
    else:
        separator = f' by "{name["separator"]}"' if name["separator"] else ""
        yield (
            f'name: "{name["word"]}" ({name["kind"]}), {_characters(name["distance"])} {name["place"]} it, '
            f"{name['relation']}{separator}"
        )
    weighed = facts["weighed"]
    if weighed is None:
        yield f"decided by: {facts['decided_by']}"
        return
    sign = "reaches" if weighed["sum"] >= weighed["threshold"] else "is below"
    weights = ", ".join(f"{feature} {weight:+.2f}" for feature, weight in weighed["weights"].items())
    yield f"decided by: {facts['decided_by']}; the sum {weighed['sum']} {sign} {weighed['threshold']}: {weights}"


def _characters(count: int) -> str:
    return f"{count} {_SINGULAR if count == 1 else _PLURAL}"
