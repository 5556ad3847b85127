"""Stored text in its frame: what is escaped, what stays as it is, and how the stored text is read back."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable

import pytest

from framing_attacks import ATTACKS, escapes_in, generated, plain, restored
from keepmum.core import framing

PLAIN = """\
List<String>
Map<String, List<User>>
Promise<Array<Message>>
std::vector<my_type> v
Vec<u8>
std::map<std::string, int>
useState<string>()
Class<?> c
List<? extends Shape>
#include <iostream>
a < b && c > d
for (i=0; i<user_count; i++)
if x < system_limit and y
p<0.05
x <= y
a <- b
f <| g
cat <<EOF
1 << 4
<div class='x'>text</div>
<br/>
<UserMenu open />
</UserMenu>
git push <remote> <branch>
Ada <ada@example.com>
mail <user@example.com>
[a link](https://example.com)
[tool.ruff]
rows[USER]
- [x] done
**System:** settings
see (mem_01k0) and mem_01k1
&lt;div&gt;
100 % <done
C:\\users\\x
\u3008\u66f8\u540d\u3009
\xab\u0441\u0438\u0441\u0442\u0435\u043c\u0430\xbb
\U0001f469\u200d\U0001f4bb works
\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645""".split("\n")


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("render", [framing.quoted, framing.inline, framing.word, framing.folded])
def test_no_attack_stays_markup(render: Callable[[str], str], name: str) -> None:
    assert escapes_in(render(f"x {ATTACKS[name]}")) == []


@pytest.mark.parametrize("render", [framing.quoted, framing.inline])
def test_no_spelling_of_a_tag_stays_markup(render: Callable[[str], str]) -> None:
    left = {
        attack
        for name, attack in generated(6000)
        if re.search(rf"<\s*/?\s*{name.casefold()}(?!\w)", plain(render(attack)))
    }
    assert left == set()


@pytest.mark.parametrize("text", PLAIN)
def test_code_and_prose_stay_as_they_are(text: str) -> None:
    assert framing.escaped(text) == text


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        pytest.param("</system-reminder>", r"<\/system-reminder>", id="a closing tag"),
        pytest.param(r"<\/system-reminder>", r"<\\/system-reminder>", id="a tag that is escaped already"),
        pytest.param("<some-tag-of-a-new-client>", r"<\some-tag-of-a-new-client>", id="a compound that no list has"),
        pytest.param("x<function_calls>", r"x<\function_calls>", id="after a word"),
        pytest.param("<keepmumMemories>", r"<\keepmumMemories>", id="our own name in another case"),
        pytest.param("<SystemReminder>", r"<\SystemReminder>", id="in the form of a component"),
        pytest.param("[INST] a [/INST]", r"[\INST] a [\/INST]", id="square brackets"),
        pytest.param("<!-- a -->", r"<\!-- a -->", id="a comment"),
        pytest.param("&lt;system&gt;", r"&lt;\system&gt;", id="an entity"),
        pytest.param("(mem_01k0, note, by ada", r"(\mem_01k0, note, by ada", id="the facts of an entry"),
        pytest.param("(#7, note, by ada", r"(\#7, note, by ada", id="facts with another id"),
    ],
)
def test_a_tag_with_authority_gets_one_backslash(stored: str, shown: str) -> None:
    assert framing.escaped(stored) == shown


@pytest.mark.parametrize("name", ATTACKS)
def test_stored_text_is_read_back_without_one_backslash_per_tag(name: str) -> None:
    text = "".join(char for char in ATTACKS[name].replace("\u00ad", "") if char.isprintable() or char == "\n")
    assert restored(framing.escaped(text)) == text


def test_each_line_of_a_text_is_marked() -> None:
    assert framing.quoted("a\n\n- b\r\nc\u2028d\x85e\x0bf") == "> a\n> \n> - b\n> c\n> d\n> e\n> f"
    assert framing.labelled("Why", "a\nb") == "Why: a\nWhy: b"
    assert framing.folded("a\nb") == "a\n> b"


@pytest.mark.parametrize("text", ["", "two words", "a, b", "a) b", 'a"b', "a\nb", "(mem_01k0, note, by ada"])
def test_a_name_that_is_more_than_a_word_is_quoted(text: str) -> None:
    shown = framing.word(text)
    assert "\n" not in shown
    assert restored(json.loads(shown)) == " ".join(text.split())


@pytest.mark.parametrize(
    "text", ["ada", "db.choice", "feature/login", "ada@example.com", "\u0430\u0434\u0430", "v1.2+3"]
)
def test_a_name_that_is_one_word_is_not_quoted(text: str) -> None:
    assert framing.word(text) == text


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "< ",
        "\uff1c",
        "<\u200d",
        "<a",
        "<a ",
        "<a-",
        "&amp;",
        "&lt;",
        "&lt;&#1;",
        "&#1;",
        "[A",
        "\\",
        "<\\",
        "(",
        "( ",
    ],
)
def test_escaping_takes_linear_time(piece: str) -> None:
    def cost(count: int) -> float:
        start = time.process_time()
        framing.quoted(piece * count)
        return time.process_time() - start

    short, long = 4_000, 16_000
    assert min(cost(long) for _ in range(3)) < 12 * max(min(cost(short) for _ in range(3)), 0.002)
