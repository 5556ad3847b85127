from __future__ import annotations

import os
import sys

import pytest

from keepmum_installers.errors import InstallError
from keepmum_installers.rpc_process import RpcProcess

ECHO = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"method": "news"}), json.dumps({"id": request["id"], "result": request}), sep="\\n", flush=True)
"""


def process(script: str, seconds: float = 20) -> RpcProcess:
    argv = (sys.executable, "-I", "-S", "-c", script)
    return RpcProcess("the child", argv, os.getcwd(), os.environ, "Try again.", seconds, {"jsonrpc": "2.0"})


def test_a_request_has_the_header_and_its_own_answer() -> None:
    with process(ECHO) as child:
        assert child.call("a", {"x": 1}) == {"jsonrpc": "2.0", "id": 1, "method": "a", "params": {"x": 1}}
        assert child.call("b", {})["id"] == 2


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        pytest.param("", "the child exited", id="exit"),
        pytest.param("input(); print('hello')", "the child sent something that is not JSON", id="no JSON"),
        pytest.param('input(); print(\'{"id": 1, "error": {}}\')', "the child answered m with an error", id="error"),
        pytest.param("import sys; list(sys.stdin)", "the child gave no answer to m in 0.1 s", id="timeout"),
    ],
)
def test_a_missing_answer_is_an_error(script: str, problem: str) -> None:
    with process(script, 0.1 if "list" in script else 20) as child, pytest.raises(InstallError) as caught:
        child.call("m", {})
    assert (str(caught.value), caught.value.next_step) == (problem, "Try again.")


def test_a_missing_program_is_an_error() -> None:
    with pytest.raises(InstallError, match="could not be started"), RpcProcess("it", ("/missing",), "/", {}, ""):
        pass
