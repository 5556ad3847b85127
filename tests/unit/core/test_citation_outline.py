"""The definitions of a file: names, extents, and digests that ignore comments and layout."""

from __future__ import annotations

import time

import pytest

from keepmum.core.citations.outline import Outline, outline

FILES = {
    "a.py": (
        "LIMIT = [\n  1,\n]\n@cached(\n  1,\n)\ndef load(\n    a,\n) -> int:\n    '''def fake(): x'''\n"
        '    x = """\ndef fake():\n"""\n    return x  # }\nclass Store(Base):\n    size: int = 1\n\n'
        "    async def get(self):\n        def inner(): pass\n        return 1\n"
    ),
    "a.ts": (
        "export const LIMIT = 5\n@Service({\n  a: 1,\n})\nexport class Store<T extends {a: 1}> {\n  size = 1;\n"
        "  async get(a: string): Promise<{ ok: boolean }> {\n    return /[}\"]/.test(`${a ? `}` : ''} {`);\n  }\n}\n"
        "interface Shape {\n  area(): number\n  edge(a: {b: 1}): void\n}\n"
        "export default function load() { return '}' }\n"
    ),
    "a.go": (
        'package a\n\nconst (\n\tLIMIT = 5\n)\n\ntype Store struct {\n\tname string `json:"{"`\n}\n\n'
        "func (s *Store) Get(a interface{}) (x map[string]struct{}, err error) {\n\treturn '{', nil\n}\n\n"
        "func Load() interface{} {\n\treturn nil\n}\n"
    ),
    "a.rs": (
        "pub const LIMIT: usize = 5;\n#[derive(Debug)]\npub struct Store<'a> { name: &'a str }\n"
        "impl<'a> fmt::Display for Store<'a> {\n    fn get(&self) -> char { '{' }\n}\n"
        'pub(crate) async fn load<\'a>(a: &\'a str) -> R where R: X {\n    r#"}"}"#\n}\n'
    ),
    "A.java": (
        'package a;\n@Entity("{")\npublic class Store<T> {\n    static final int LIMIT = 5;\n'
        "    @Override\n    public <R> List<R> get(String a) throws E {\n"
        "        return new A() { };\n    }\n    interface Shape { }\n}\n"
    ),
}
NAMES = {
    "a.py": ["LIMIT", "load", "Store", "Store.size", "Store.get", "Store.get.inner"],
    "a.ts": ["LIMIT", "Store", "Store.size", "Store.get", "Shape", "Shape.area", "Shape.edge", "load"],
    "a.go": ["LIMIT", "Store", "Store.Get", "Load"],
    "a.rs": ["LIMIT", "Store", "Store.get", "load"],
    "A.java": ["Store", "Store.LIMIT", "Store.get", "Store.Shape"],
}
EXTENTS = {
    "a.py": {"load": (4, 14), "Store": (15, 20), "Store.get": (18, 20)},
    "a.ts": {"Store": (2, 10), "Store.get": (7, 9), "Shape.area": (12, 12), "load": (15, 15)},
    "a.go": {"Store": (7, 9), "Store.Get": (11, 13), "Load": (15, 17)},
    "a.rs": {"Store": (2, 3), "load": (7, 9)},
    "A.java": {"Store": (2, 10), "Store.get": (5, 8)},
}


def of(path: str, text: str) -> Outline:
    found = outline(path, text)
    assert found is not None
    return found


@pytest.mark.parametrize("path", FILES)
def test_definitions_have_qualified_names_in_order(path: str) -> None:
    assert [each.symbol for each in of(path, FILES[path]).definitions] == NAMES[path]


@pytest.mark.parametrize("path", FILES)
def test_an_extent_has_decorators_and_the_whole_body(path: str) -> None:
    found = {each.symbol: (each.first, each.last) for each in of(path, FILES[path]).definitions}
    assert {name: found[name] for name in EXTENTS[path]} == EXTENTS[path]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("def f(a):\n    return a\n", "def f(a):\n\n    # why\n    return a  # so\n", id="comments"),
        pytest.param("def f(a):\n    return a\n", 'def f(a):\n    """Text."""\n    return a\n', id="docstring"),
        pytest.param("def f(a, b):\n    return a\n", "def f(\n    a,\n    b,\n):\n    return a\n", id="formatting"),
        pytest.param("def f(a):\n    return 'a'\n", 'def f(a):\n    return "a"\n', id="quotes"),
        pytest.param("def f(a):\n    return a\n", "class A: pass\n\n\ndef f(a):\n    return a\n", id="lines above"),
    ],
)
def test_a_digest_ignores_comments_and_layout(before: str, after: str) -> None:
    assert of("a.py", before).digest("f") == of("a.py", after).digest("f")


def test_a_digest_differs_for_other_code() -> None:
    assert of("a.py", "def f(a):\n    return a\n").digest("f") != of("a.py", "def f(a):\n    return -a\n").digest("f")
    assert of("a.py", "@a\ndef f(): pass\n").digest("f") != of("a.py", "@b\ndef f(): pass\n").digest("f")


def test_a_language_that_is_not_known_has_no_outline() -> None:
    assert outline("a.rb", "def f\nend\n") is None
    assert outline("Makefile", "f:\n") is None
    assert outline("folder.py/file", "def f(): pass\n") is None


@pytest.mark.parametrize("path", FILES)
def test_a_damaged_or_hostile_file_is_read_in_linear_time(path: str) -> None:
    parts = ("{", "(", '"', "`", "/*", "//", "\t", "const a =\n", "class A {\n", "fn a\n", "impl a", "@a(\n", "'", "\n")
    started = time.process_time()
    for part in parts:
        of(path, part * (20_000 // len(part)))
    assert time.process_time() - started < 10  # quadratic time would be minutes
