"""For any text, removing our block restores the bytes."""

from __future__ import annotations

from hypothesis import assume, example, given
from hypothesis import strategies as st

from keepmum_installers.blocks import Block, Mark, put, remove

LINES = st.lists(
    st.one_of(st.text(max_size=20), st.sampled_from(["", "[table]", "# keepmum: end", "a = 1", Block("").first])),
    max_size=8,
)
TEXTS = st.builds(lambda lines, end: end.join(lines), LINES, st.sampled_from(["\n", "\r\n"]))
BLOCK = Block("[ours]\nx = 1")


@given(TEXTS)
def test_removing_a_block_restores_the_bytes(text: str) -> None:
    assume(remove(text, Mark(BLOCK.first, BLOCK.last)) == text)  # else it has an older block, which would be updated
    with_block, mark = put(text, BLOCK)
    assert remove(with_block, mark) == text


@given(TEXTS)
@example("\r")
def test_a_second_time_changes_nothing(text: str) -> None:
    once, _ = put(text, BLOCK)
    assert put(once, BLOCK) == (once, None)
