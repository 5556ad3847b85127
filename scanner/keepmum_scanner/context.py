"""What the words around a place say about it.

Looked up for single candidates in a short window of their own line, so the cost never grows with the text.
"""

from __future__ import annotations

import re

BEFORE = 72  # characters before a candidate that can name it: "Password for the staging account is …"
AFTER = 36  # … and behind it: "… as the deploy token"

UNNAMED = 0  # nothing names the place a credential
NEAR = 1  # a credential word stands in the window
ASSIGNED = 2  # a credential word is given the value: by sign, by quotes, by "is" or "to"

# Words that make a value a credential. Plural "tokens" mostly counts words of a language model, "keys" fields of an
# object: neither points at a value.
_CREDENTIAL = re.compile(
    r"pass(?:word|wd|phrase|code)|pwd|secret|credential|creds\b|token(?!s|iz|_?(?:id|name|count|limit|type|url))|"
    r"api[ _-]?key|(?:access|private|signing|encryption|master|account|license|auth|deploy|service)[ _-]?key|"
    r"(?:\b|_)key\b|bearer|authorization|\bauth\b|pasted|rotate|\b40[13]\b|login|비밀번호|パスワード|密码|密碼|пароль"
)
# Words that make a value the name or digest of a thing.
_NAMING = re.compile(
    r"\b(?:commits?|sha\d*|digest|checksum|md5|hash|revision|rev|etag|uuid|guid|trace|thread|request|message|build|image|"
    r"branch|tree|blob|merge[sd]?|cherry|bump|pin(?:ned)?|diff|snapshot|fingerprint|integrity|version|"
    r"run|issue|pull|pr|id)\b|(?:_|\b)(?:id|sha|hash)\b"
)
_GIVEN = re.compile(r"[=:(`'\"]|\b(?:is|to|was|are|send|use|bearer|basic)\s*[`'\"]?$")
_SENTENCE_END = re.compile(r"[.;!?]\s|\|")
_LINK = re.compile(
    r"(?:https?|ssh|git|ftp)://[^\s\"'<>`]*$|(?:^|[\s(<\"'`])[\w-]+(?:\.[\w-]+)*\.[a-z]{2,6}/[^\s\"'<>`]*$"
)


class Context:
    """The surroundings of candidates in one plain text."""

    __slots__ = ("_lower",)

    def __init__(self, text: str) -> None:
        lower = text.lower()
        self._lower = lower if len(lower) == len(text) else text  # a few letters change length in lower case

    def naming(self, start: int, end: int) -> int:
        """How the surroundings name [start, end) a credential: `UNNAMED`, `NEAR` or `ASSIGNED`."""
        return max(self._from_before(start), self._from_behind(end))

    def _from_before(self, start: int) -> int:
        window = self._before(start)
        last = None
        for match in _CREDENTIAL.finditer(window):
            last = match
        if last is None:
            return UNNAMED
        gap = window[last.end() :]
        if _NAMING.search(gap) or _SENTENCE_END.search(gap):
            return UNNAMED
        return ASSIGNED if _GIVEN.search(gap) or len(gap) <= 2 else NEAR

    def _from_behind(self, end: int) -> int:
        window = self._lower[end : end + AFTER].split("\n", 1)[0]
        match = _CREDENTIAL.search(window)
        if match is None or _SENTENCE_END.search(window[: match.start()]):
            return UNNAMED
        return NEAR

    def in_link(self, start: int) -> bool:
        """Whether the place at `start` is part of a link's path: places have names, and links are made to be shared."""
        return _LINK.search(self._lower[max(0, start - 200) : start]) is not None

    def _before(self, start: int) -> str:
        return self._lower[max(0, start - BEFORE) : start].rsplit("\n", 1)[-1]
