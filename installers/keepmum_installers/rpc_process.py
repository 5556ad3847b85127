"""A child process that answers JSON-RPC requests on its standard streams, one message per line."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from keepmum_installers.errors import InstallError

__all__ = ["RpcProcess"]

_EXIT_SECONDS = 5


@dataclass
class RpcProcess:
    """Runs while the block runs. A request beyond the time limit kills the process."""

    name: str
    """As error messages call it."""
    argv: Sequence[str]
    cwd: str
    environ: Mapping[str, str] = field(repr=False)
    next_step: str
    seconds: float = 20  # for each request; a first start on a slow disk compiles every module
    header: Mapping[str, str] = field(default_factory=dict)
    """Members that each message has."""
    _number: int = 0

    def __enter__(self) -> Self:
        pipe = subprocess.PIPE
        try:
            self._child = subprocess.Popen(
                self.argv,
                cwd=self.cwd,
                env=self.environ,
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
            )
        except OSError as error:
            raise self._error(f"could not be started: {error.strerror}") from None
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._child.communicate(timeout=_EXIT_SECONDS)  # closes its input
        except (OSError, ValueError, subprocess.TimeoutExpired):
            self._child.kill()
            self._child.communicate()

    def call(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        """The result of a request.

        Raises: InstallError when the process answers with an error, or not at all.
        """
        self._number += 1
        timer = threading.Timer(self.seconds, self._child.kill)
        timer.start()
        try:
            return self._answer(method, params)
        except OSError:
            raise self._error("exited") from None
        except ValueError:
            raise self._error("sent something that is not JSON") from None
        except EOFError:
            ran_out = timer.finished.is_set()
            raise self._error(f"gave no answer to {method} in {self.seconds} s" if ran_out else "exited") from None
        finally:
            timer.cancel()

    def notify(self, method: str) -> None:
        """Send a notification.

        Raises: InstallError when the process has exited.
        """
        try:
            self._send({"method": method})
        except OSError:
            raise self._error("exited") from None

    def _answer(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        self._send({"id": self._number, "method": method, "params": params})
        assert self._child.stdout is not None
        for line in self._child.stdout:
            message = json.loads(line)
            if isinstance(message, dict) and message.get("id") == self._number and "method" not in message:
                result = message.get("result")
                if isinstance(result, dict):
                    return result
                raise self._error(f"answered {method} with an error")
        raise EOFError

    def _send(self, message: Mapping[str, object]) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps({**self.header, **message}) + "\n")
        self._child.stdin.flush()

    def _error(self, problem: str) -> InstallError:
        return InstallError(f"{self.name} {problem}", self.next_step)
