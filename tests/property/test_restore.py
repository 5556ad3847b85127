"""For any TOML file, the lines that a client leaves behind for us are removed completely."""

from __future__ import annotations

import tomllib

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from keepmum_installers.blocks import Block, put, remove
from keepmum_installers.restore import restored

KEYS = st.one_of(st.from_regex(r"[A-Za-z0-9_-]{1,8}", fullmatch=True), st.just('"a b.c"'), st.just("tools.x"))
VALUES = st.one_of(
    st.integers(-99, 10**9).map(str),
    st.booleans().map(lambda value: str(value).lower()),
    st.text(st.characters(exclude_characters="\\\"'", exclude_categories=["C", "Zl", "Zp"]), max_size=12).map(
        lambda text: f'"{text}"'
    ),
    st.just("[\n  1, # one\n  2,\n]"),
    st.just('{ a = 1, "b" = [] }'),
    st.just('"""\n[marketplaces.keepmum]\n"""'),
)
LINES = st.one_of(
    st.builds("{} = {}".format, KEYS, VALUES),
    st.builds("[{}]".format, KEYS),
    st.builds("[[{}s]]".format, st.from_regex(r"[a-z]{3}", fullmatch=True)),
    st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), max_size=20).map(lambda text: f"# {text}"),
    st.sampled_from(["", "  ", '[hooks.state."other@x:hooks.json:stop:0:0"]', "[plugins.other]", "[features]"]),
)
TEXTS = st.builds(
    lambda lines, end, last: end.join(lines) + last * end,
    st.lists(LINES, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
ADDED = """
[marketplaces.keepmum]
source_type = "local"

[plugins."keepmum@keepmum"]
enabled = true
"""
TRUSTED = """
[hooks.state."keepmum@keepmum:hooks/codex.json:stop:0:0"]
trusted_hash = "sha256:1"
trusted_content_hash = "sha256:2"
"""


def values(text: str) -> dict[str, object] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


@given(TEXTS)
@settings(max_examples=400)
def test_our_traces_are_removed_and_every_byte_restored(text: str) -> None:
    left = text + ("" if text.endswith("\n") or not text else "\n") + TRUSTED
    assume(values(text) is not None and values(left) is not None)
    assert restored("config.toml", left, text) == text


@given(TEXTS, TEXTS)
@settings(max_examples=200)
def test_additions_by_others_stay(text: str, more: str) -> None:
    kept = text + ("" if text.endswith("\n") or not text else "\n")
    now = kept + TRUSTED + more
    assume(values(text) is not None and values(now) is not None and values(kept + more) is not None)
    after = restored("config.toml", now, text) or ""
    assert after in {text, now} or ("keepmum@keepmum:" not in after and after.startswith(text))


@given(TEXTS)
@settings(max_examples=400)
def test_a_block_for_a_team_is_toml_and_removed_completely(text: str) -> None:
    before = values(text)
    assume(before is not None and "plugins" not in (before or {}))
    with_block, mark = put(text, Block('[plugins."keepmum@keepmum"]\nenabled = true'))
    assert values(with_block) == {**(before or {}), "plugins": {"keepmum@keepmum": {"enabled": True}}}
    assert remove(with_block, mark) == text
