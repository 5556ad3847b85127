"""No sequence of calls shows a user a memory of another user."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialect_calls import Caller, opened
from keepmum.core.errors import KeepmumError

USERS = ("ada", "bob", "eve")
# Each memory contains the name of its user in capitals.
steps = st.lists(
    st.tuples(
        st.sampled_from(USERS),
        st.sampled_from(["store", "supersede", "recall", "forget", "archive", "list", "reflect", "erase"]),
        st.integers(0, 5),
    ),
    min_size=4,
    max_size=14,
)


@settings(max_examples=20)
@given(taken=steps)
def test_no_user_sees_a_memory_of_another(
    tmp_path_factory: pytest.TempPathFactory, taken: list[tuple[str, str, int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("home")
        patch.setenv("KEEPMUM_HOME", str(home))
        patch.chdir(home)
        with opened("per-user") as tools:
            names: list[str] = []
            for user, action, number in taken:
                answer = _perform(tools, names, user, action, number)
                others = [other.upper() for other in USERS if other != user]
                assert not any(other in answer for other in others), (user, action)


def _perform(tools: Caller, names: list[str], user: str, action: str, number: int) -> str:
    """The answer of a tool; each user also tries the ids of the others."""
    content = f"{user.upper()} likes thing {number}"
    memory_id = names[number % len(names)] if names else "mem_nothing"
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "store": ("MemoryStore", {"content": content, "category": "project"}),
        "supersede": ("MemoryStore", {"content": content, "category": "fact", "supersedes": memory_id}),
        "recall": ("MemoryRecall", {"query": f"likes thing {number}", "includeContext": True}),
        "forget": ("MemoryForget", {"memoryId": memory_id}),
        "archive": ("MemoryForget", {"query": "likes thing", "mode": "archive"}),
        "list": ("MemoryList", {}),
        "reflect": ("MemoryReflect", {"includeMemories": True}),
        "erase": ("MemoryErase", {"confirm": user}),
    }
    tool, arguments = calls[action]
    try:
        answer = tools.text(tool, userId=user, **arguments)
    except KeepmumError as error:
        return str(error)
    if tool == "MemoryStore":
        names.append(json.loads(answer)["memoryId"])
    return answer
