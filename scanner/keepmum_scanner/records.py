"""Finds values that another field of the same record names a credential: a title and a text, a name and its notes.

A record is JSON: the fields of a memory, or the input of a tool. What names a value: the names on its path, the texts
in the same object and around it, the items next to it in a list, and the head of its column in a table.
"""

from __future__ import annotations

from keepmum_scanner import labels
from keepmum_scanner.finding import Finding, fingerprint
from keepmum_scanner.labels import ANNOUNCES, NAMES, NONE, TOPIC, UNNAMED
from keepmum_scanner.normalise import normalise
from keepmum_scanner.record_names import NEUTRAL, may_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from typing import TypeGuard

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.labels import Label

    Step = str | int | None  # a name, an index, or None: the string before it was parsed as JSON
    Path = tuple[Step, ...]
    Found = tuple[Path, str, Finding]  # of a field: its path, its text, and the finding in that
    Decode = Callable[[str], object]

__all__ = ["find_related"]

_MOST_TEXTS = 24  # of an object that may name its other values
_WIDEST = 64  # fields of an object in which a list may be the head of another
_PAIR = 3  # fields of an object that is a label and a value
_MOST_NAMES = 8  # of a path that are read
_NEARBY = 2  # items of a list, before and after
_JSON_LEVELS = 8
_JSON_STARTS = ("{", "[")

_VALUES = frozenset(
    "answer body content contents current data detail details fact facts info input item items line lines memory "
    "memories message messages new note observation observations old output payload raw record result secret string "
    "text texts target to v val value values words x".split()
)
_REMARKS = frozenset("context comment comments description notes reason remark summary why".split())
_NAMES = frozenset(
    "attribute category concept entity entityname entity_name field from heading id key keywords kind label labels "
    "name param parameter property source subject tag tags title topic type".split()
)
_TITLES = frozenset(("title", "subject", "heading"))
# The name of an edge in a graph, and the first words of one that gives a value: "has password", not "owned by".
_RELATIONS = frozenset("edge predicate relation relationship relationtype relation_type verb".split())
_GIVING = frozenset("equals has is uses value with".split())
_OWN_LABELS = frozenset(
    "attribute entity entityname entity_name field heading key label name param property subject title topic".split()
)
# The last words of names whose values are not credentials, whatever the other fields say.
_IDENTIFYING = frozenset(
    "account actor agent at author branch by checksum client commit created date day digest directory duration "
    "email env environment etag expires file filename fingerprint folder hash host hostname id ids index ip "
    "language limit login method mode model number owner path port priority project ref region relation "
    "relationtype repo repository revision role run scope seconds server session sha sha1 sha256 size status time "
    "timestamp ttl type updated uri url user username users uuid version".split()
)


class _Field:
    """One value in a record, with what is known about it from the outside."""

    __slots__ = ("column", "is_value", "label", "names", "path", "value")

    def __init__(
        self, value: object, path: Path, names: tuple[str, ...], label: Label, column: Label = UNNAMED
    ) -> None:
        self.value = value
        self.path = path
        self.names = names  # on its path
        self.label = label  # of the texts around it
        self.column = column  # of the head of its column
        self.is_value = False  # whether a label in the same object is its own, as in {"property": …, "content": …}


def find_related(
    record: object,
    key: bytes | Callable[[], bytes] | None = None,
    decode: Decode | None = None,
    leave_out: Collection[str] = (),
) -> list[Found]:
    """Findings in the strings and numbers of `record` that another field names, each with path and text of its field.

    Args:
        record: JSON; an object may be anything that has `items`.
        key: of the fingerprints, as for `scan`.
        decode: parses JSON in strings; raises ValueError or returns None when it is none.
        leave_out: names of fields that are ignored at any depth.
    """
    if not may_name(record, leave_out):
        return []
    search = _Search(decode or _decode, leave_out)
    found = list(search.findings(record))
    secret_key = key() if found and callable(key) else key
    prints = [
        fingerprint(secret, secret_key) if isinstance(secret_key, bytes) and secret_key else "" for *_, secret in found
    ]
    return [(path, text, Finding(*candidate, print_)) for (path, text, candidate, _), print_ in zip(found, prints)]


def _decode(text: str) -> object:
    from json import loads

    try:
        return loads(text)
    except RecursionError:
        return None


class _Search:
    """The search of one record; labels of equal texts are computed once."""

    def __init__(self, decode: Decode, leave_out: Collection[str]) -> None:
        self._decode = decode
        self._leave_out = leave_out
        self._labels: dict[str, Label] = {}
        self._parsed: dict[str, object] = {}

    def findings(self, record: object) -> Iterator[tuple[Path, str, Candidate, str]]:
        """Path and text of the field, candidate and normalised secret of each finding."""
        waiting = [_Field(record, (), (), UNNAMED)]
        while waiting:
            field = waiting.pop()
            value = self._container(field.value, field.path)
            path = field.path if value is field.value else (*field.path, None)
            items = self._items(value)
            if items is not None:
                waiting += self._in_object(items, path, field)
            elif _is_list(value):
                waiting += self._in_list(value, path, field)
            elif isinstance(value, str):
                yield from self._judge(field, value)
            elif isinstance(value, (int, float)) and not isinstance(value, bool):
                yield from self._judge(field, str(value))

    def _items(self, value: object) -> list[tuple[str, object]] | None:
        items = getattr(value, "items", None)
        return None if items is None else [one for one in items() if one[0] not in self._leave_out]

    def _container(self, value: object, path: Path = ()) -> object:
        """The object or list that a string is the JSON of; any other value itself."""
        if not isinstance(value, str) or value.lstrip()[:1] not in _JSON_STARTS or path.count(None) >= _JSON_LEVELS:
            return value
        if value not in self._parsed:
            try:
                parsed = self._decode(value)
            except ValueError:
                parsed = None
            self._parsed[value] = value if parsed is None or isinstance(parsed, (str, int, float)) else parsed
        return self._parsed[value]

    # -- what names a value

    def _in_object(self, items: list[tuple[str, object]], path: Path, field: _Field) -> Iterator[_Field]:
        own = [self._label_of(item, name) for name, item in items]
        strongest = _strongest(own)
        around = self._around(items, field)
        most = self._relation(items)
        is_pair = len(items) <= _PAIR and any(
            own[number][0] >= NAMES and name.lower() in _OWN_LABELS for number, (name, _) in enumerate(items)
        )
        for number, (name, item) in enumerate(items):
            names = field.names if name == NEUTRAL else (*field.names[:1], *field.names[1:][-_MOST_NAMES:], name)
            header = self._header(items, number)
            heads = header[1] if header else []
            others = (
                other
                for other in strongest
                if other not in {number, header and header[0]} and not _within(item, items[other][1])
            )
            best = next(others, None)
            label = around if best is None else max(around, own[best])
            if header:
                yield from self._rows(item, (*path, name), names, label, heads)
            else:
                if not isinstance(item, str) and any(map(labels.describes, labels.words(name))):
                    label = min(label, (TOPIC, False))  # the name, such as "session.timeout", says what is inside
                below = _Field(item, (*path, name), names, min(label, most))
                below.is_value = is_pair and name.lower() not in _NAMES
                yield below

    def _relation(self, items: list[tuple[str, object]]) -> Label:
        """The most that an edge of a graph can name: "has password" gives a value, "stored in" a place."""
        for name, item in items:
            if name.lower() in _RELATIONS and isinstance(item, str) and self._text_label(item)[0] < NAMES:
                first = labels.words(item)[:1]
                return (ANNOUNCES, True) if first and first[0] in _GIVING else (TOPIC, False)
        return ANNOUNCES, True

    def _around(self, items: list[tuple[str, object]], field: _Field) -> Label:
        """The label from outside an object; weaker when the object has a name of its own."""
        for name, item in items:
            is_label = field.path and name.lower() in _OWN_LABELS and isinstance(item, str) and item.strip()
            if is_label and self._text_label(str(item))[0] == NONE:
                return min(field.label, (TOPIC, False))
        return field.label

    def _in_list(self, value: Sequence[object], path: Path, field: _Field) -> Iterator[_Field]:
        if len(value) > 1 and all(_is_list(self._container(row)) for row in value):
            heads = [self._text_label(cell) if isinstance(cell, str) else UNNAMED for cell in self._container(value[0])]  # type: ignore[attr-defined]
            if max(heads, default=UNNAMED) != UNNAMED:
                yield from self._rows(value, path, field.names, field.label, heads)
                return
        own = [self._nearby_label(item) for item in value]
        for number, item in enumerate(value):
            near = [
                own[other]
                for other in range(max(0, number - _NEARBY), min(len(own), number + _NEARBY + 1))
                if other != number
            ]
            yield _Field(item, (*path, number), field.names, max([field.label, *near]), field.column)

    def _rows(
        self, value: object, path: Path, names: tuple[str, ...], label: Label, heads: Sequence[Label]
    ) -> Iterator[_Field]:
        """The cells of a table with these column heads; `value` is one row, or a list of rows."""
        rows = self._container(value)
        assert _is_list(rows)
        for number, row in enumerate(rows):
            cells = self._container(row)
            if not _is_list(cells):
                column = heads[number] if number < len(heads) else UNNAMED
                yield _Field(row, (*path, number), names, label, column)
                continue
            inside = [self._label_of(cell) for cell in cells] if number else []
            strongest = _strongest(inside)
            for place, cell in enumerate(cells):
                other = next((one for one in strongest if one != place), None)
                same_row = UNNAMED if other is None else inside[other]
                column = heads[place] if place < len(heads) else UNNAMED
                yield _Field(cell, (*path, number, place), names, max(label, same_row), column)

    def _header(self, items: list[tuple[str, object]], number: int) -> tuple[int, list[Label]] | None:
        """Number and labels of the other list that names the columns or elements of item `number`."""
        value = self._container(items[number][1])
        if not _is_list(value) or not value or len(items) > _WIDEST:
            return None
        inner = self._container(value[0])
        size = len(inner) if _is_list(inner) else len(value)
        for other, (_, item) in enumerate(items):
            heads = self._container(item)
            if other != number and _is_list(heads) and len(heads) == size > 1:
                found = [self._text_label(head) if isinstance(head, str) else UNNAMED for head in heads]
                if max(found) != UNNAMED and min(found) == UNNAMED:
                    return other, found
        return None

    def _label_of(self, value: object, name: str = "") -> Label:
        """The label of the texts in a field; `name` is the field's."""
        best = UNNAMED
        for text in self._texts(value):
            label = self._text_label(text)
            if label[0] == ANNOUNCES and name.lower() not in _VALUES:
                label = (NAMES, label[1])
            if label[0] == NAMES and name.lower() in {"tags", "tag", "keywords", "labels"} and not label[1]:
                label = (TOPIC, False)
            best = max(best, label)
        return best

    def _nearby_label(self, item: object) -> Label:
        """The label that an item of a list gives to its neighbours; none when it has a name of its own."""
        items = self._items(self._container(item))
        if items is not None and any(name.lower() in _OWN_LABELS for name, _ in items):
            return UNNAMED
        return self._label_of(item) if not _is_list(item) else UNNAMED

    def _texts(self, value: object) -> Iterator[str]:
        """The strings of a field, to a depth of three and up to `_MOST_TEXTS`."""
        waiting = [(value, 0)]
        count = 0
        while waiting and count < _MOST_TEXTS:
            one, depth = waiting.pop()
            one = self._container(one)
            items = self._items(one)
            if isinstance(one, str):
                count += 1
                yield one
            elif items is not None and depth < 2:
                waiting += [(item, depth + 1) for _, item in items]
            elif _is_list(one) and depth < 2:
                waiting += [(item, depth + 1) for item in one]

    def _text_label(self, text: str) -> Label:
        label = self._labels.get(text)
        if label is None:
            label = self._labels[text] = labels.naming(text)
        return label

    # -- the value

    def _judge(self, field: _Field, text: str) -> Iterator[tuple[Path, str, Candidate, str]]:
        own = next((step for step in reversed(field.path) if isinstance(step, str)), "")
        last = [word for word in labels.words(own) if word.isalpha()][-1:]
        path_label = self._path_label(field.names)
        around = UNNAMED if last and last[0] in _IDENTIFYING and own.lower() not in _VALUES else field.label
        strength, anything = max(path_label, field.column, around)
        if strength == NONE or (own.lower() in _REMARKS and self._text_label(text)[0] == ANNOUNCES):
            return  # a remark that names a credential is not its value
        from keepmum_scanner import whole_values  # few records get here

        how = _how(own.lower(), around[0])
        if field.is_value or max(path_label, field.column)[0] >= NAMES:
            how = whole_values.ANY
        view = normalise(text)
        candidates = whole_values.find(view.text, strength, how, anything=anything)
        for (rule, start, end, confidence), span in zip(
            candidates, view.origin_spans([(start, end) for _, start, end, _ in candidates])
        ):
            yield field.path, text, (rule, *span, confidence), view.text[start:end]

    def _path_label(self, names: tuple[str, ...]) -> Label:
        """The label of the names on a path, read as one dotted name."""
        return self._text_label(".".join(name.replace(" ", "_") for name in names)) if names else UNNAMED


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, (list, tuple)) and not hasattr(value, "items")  # an object may be a tuple of pairs


def _strongest(own: Sequence[Label]) -> list[int]:
    """The numbers of the strongest labels that name anything, strongest first."""
    naming = (number for number, label in enumerate(own) if label[0])
    return sorted(naming, key=lambda number: own[number], reverse=True)[:_MOST_TEXTS]


def _within(text: object, longer: object) -> bool:
    """Whether one text is a part of another, as a title may be, so that it says nothing about it."""
    return isinstance(text, str) and isinstance(longer, str) and text in longer


def _how(name: str, strength: int) -> int:
    """How the value of a field is judged by the field's name."""
    from keepmum_scanner.whole_values import ANY, STRICT, TOKENS

    if name in _VALUES or not name:
        return ANY
    if name in _TITLES and strength == ANNOUNCES:
        return ANY
    return STRICT if name in _NAMES else TOKENS
