"""What a text says of code: only what the tree confirms is cited, and what could be prose is not."""

from __future__ import annotations

import time

import pytest

from keepmum.core.citations.mentions import mentions
from keepmum.core.citations.outline import Outline, outline
from keepmum.core.citations.resolution import Paths, cited, names_to_search

TREE = {
    "README.md": "# Shop\n",
    "pyproject.toml": "[project]\n",
    "deploy/Dockerfile": "FROM x\n",
    "shop/cart.py": (
        "LIMIT = 5\n\n\nclass Cart:\n    created_at = 0\n\n    def add_item(self, item):\n        pass\n\n"
        "    def total(self):\n        return 1\n\n\ndef total():\n    return 2\n\n\n"
        "def merge_carts(a, b):\n    return a\n"
    ),
    "shop/payments/gateway.py": (
        "class GitHub:\n    def charge(self):\n        pass\n\n\ndef charge_card():\n    pass\n"
    ),
    "shop/payments/__init__.py": "",
    "shop/__init__.py": "",
    "web/src/router.ts": "export function navigate(to: string) {\n  go(to);\n}\nexport const routeTable = [];\n",
    "web/src/index.ts": "export function main() {}\n",
    "web/index.ts": "export function main() {}\n",
    "api/server.go": "package api\n\nfunc (s *Server) Handle(r Request) error {\n\treturn nil\n}\n",
    "core/src/store.rs": "impl Store {\n    pub fn flush_all(&self) {\n    }\n}\n",
    "app/Login.java": "public class Login {\n    public void signIn(String a) {\n    }\n}\n",
}


def outline_of(path: str) -> Outline | None:
    return outline(path, TREE[path])


def found_in(text: str) -> set[str]:
    """The citations as `path` or `path::symbol`."""
    mentioned, paths = mentions(text), Paths(TREE)
    searched = names_to_search(mentioned, paths)

    def files_with(name: str) -> list[str]:
        assert name in searched
        return [path for path, code in TREE.items() if name in code]

    places = cited(mentioned, paths, outline_of, files_with)
    return {f"{each.path}::{each.symbol}" if each.symbol else each.path for each in places}


CITED = (
    ("The cart is limited in shop/cart.py.", {"shop/cart.py"}),
    ("See `cart.py` for the cart", {"shop/cart.py"}),
    ("Totals: `./shop/cart.py`, never elsewhere", {"shop/cart.py"}),
    ("shop/cart.py:8 has no check", {"shop/cart.py::Cart.add_item"}),
    ("shop/cart.py#L7-L9 has no check", {"shop/cart.py::Cart.add_item"}),
    ("shop/cart.py, line 11, is slow", {"shop/cart.py::Cart.total"}),
    ("cart.py (line 15) is slow", {"shop/cart.py::total"}),
    ("cart.py:1 is the limit", {"shop/cart.py::LIMIT"}),
    ("cart.py:2 is empty", {"shop/cart.py"}),
    ("cart.py:9999 is nowhere", {"shop/cart.py"}),
    ("cart.py::Cart.add_item checks nothing", {"shop/cart.py::Cart.add_item"}),
    ("cart.py:merge_carts keeps the first", {"shop/cart.py::merge_carts"}),
    ("`add_item` in shop/cart.py checks nothing", {"shop/cart.py::Cart.add_item"}),
    ("In cart.py, `LIMIT` is 5", {"shop/cart.py::LIMIT"}),
    ("`Cart` (shop/cart.py) is not thread-safe", {"shop/cart.py::Cart"}),
    ("`Cart.add_item` checks nothing", {"shop/cart.py::Cart.add_item"}),
    ("Cart.add_item() checks nothing", {"shop/cart.py::Cart.add_item"}),
    ("Cart::add_item checks nothing", {"shop/cart.py::Cart.add_item"}),
    ("Cart#add_item checks nothing", {"shop/cart.py::Cart.add_item"}),
    ("merge_carts keeps the first", {"shop/cart.py::merge_carts"}),
    ("`merge_carts(a, b)` keeps the first", {"shop/cart.py::merge_carts"}),
    ("`def merge_carts` keeps the first", {"shop/cart.py::merge_carts"}),
    ("shop.cart.merge_carts keeps the first", {"shop/cart.py::merge_carts"}),
    ("shop.payments.gateway.charge_card is the only caller", {"shop/payments/gateway.py::charge_card"}),
    ("gateway.charge_card is the only caller", {"shop/payments/gateway.py::charge_card"}),
    ("`navigate` in router.ts pushes", {"web/src/router.ts::navigate"}),
    ("routeTable is built at start", {"web/src/router.ts::routeTable"}),
    ("`Server.Handle` in api/server.go", {"api/server.go::Server.Handle"}),
    ("`Store::flush_all` waits", {"core/src/store.rs::Store.flush_all"}),
    ("signIn() of Login.java", {"app/Login.java::Login.signIn"}),
    ("The image is in deploy/Dockerfile", {"deploy/Dockerfile"}),
    ("pyproject.toml pins it", {"pyproject.toml"}),
    ("Die Summe steht in `shop/cart.py`: `merge_carts`", {"shop/cart.py::merge_carts"}),
)
NOT_CITED = (
    "We use GitHub Actions and PostgreSQL",  # a class has that name
    "Deploys go through the blue pool first, and/or on Fridays",
    "Everything in index.ts is old",  # two files
    "`total` is rounded",  # a word, and two definitions
    "`main` is protected",
    "`main()` starts it",  # defined twice
    "created_at is in milliseconds",  # a field
    "`created_at` is in milliseconds",
    "https://example.org/shop/cart.py",
    "me@cart.py",
    "/etc/passwd, ~/shop/x.py, C:\\shop\\cart.py",
    "../other/cart.py",
    "other/cart.py and `merge_carts()`",  # a file that is not here, whose name it may be
    "e.g. node.js 1.2.3, i.e. v2.0",
    "unknown_function() fails",
    "cart.pyc",
    "the router",
    "",
)


@pytest.mark.parametrize(("text", "expected"), CITED)
def test_code_that_the_tree_has_is_cited(text: str, expected: set[str]) -> None:
    assert found_in(text) == expected


@pytest.mark.parametrize("text", NOT_CITED)
def test_what_is_prose_or_ambiguous_is_not_cited(text: str) -> None:
    assert found_in(text) == set()


def test_a_text_cites_a_few_places_only() -> None:
    assert len(found_in(" ".join(TREE))) == 8


def test_a_hostile_text_is_read_in_linear_time() -> None:
    parts = ("a/", "`", "a.", "_a", "aB", "x(", "a-", "a@", "./", "a::", "http", "a.b/", "A", "(a", "a:1")
    started = time.process_time()
    for part in parts:
        mentions(part * (20_000 // len(part)))
    assert time.process_time() - started < 5  # quadratic time would be a minute
