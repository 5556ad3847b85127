"""Finds words that are spelled as passwords may be, for the second stage to judge.

Far more of them are names, versions and algorithms than secrets, so none of these is a finding by itself.
"""

from __future__ import annotations

from itertools import islice

from keepmum_scanner import shapes
from keepmum_scanner.decode import encodes_text
from keepmum_scanner.expressions import compiled
from keepmum_scanner.scored_tokens import has_harmless_shape
from keepmum_scanner.surprise import surprise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from keepmum_scanner.context import Context

    Span = tuple[int, int]

_SHORTEST, _LONGEST = 6, 32  # characters; longer tokens are scored
_LONGEST_WORD = 256  # characters between spaces; longer ones are links, data or code
_MOST = 16  # words of one text that are proposed
_CHECKED = 120  # different words with a digit or a symbol that are examined
_MARK = compiled("[0-9!#$%&@^~*?+]")
_PIECE = compiled(r"[^\s\"'`()<>\[\]{}|,;:=\\]{6,}")
_ENDS = ".?*_-/"  # around a word, which Markdown and sentences add
# Near a name, a word with any digit or symbol.
_NAMED = compiled(r"[!-~]*(?:[0-9]|[A-Za-z][!#$%&@^~*?+-])")
# Without a name: words with a number of three digits or a symbol after it, symbols within a word, or letters and digits
# that alternate.
_UNNAMED = compiled(
    r"(?=[!-~]{8})(?:"
    r"[A-Za-z]+(?:[-_.!@#$%&*+~^]?[A-Za-z]+){0,3}[-_.!@#$%&*+~^]?(?:[0-9]{4}|[0-9]+[!@#$%&*?~^+])[!-~]{0,2}$|"
    r"[A-Z]?[a-z]+(?:[A-Z]|[-_.!@#$%&*+~^][A-Za-z])[a-z]+[0-9]{3}$|"
    r"(?=[!-~]*[0-9A-Z])[!-~]*[A-Za-z0-9][!#$%^&*?@~][A-Za-z0-9]|"
    r"[!-~]*[A-Za-z][0-9]+[A-Za-z]{2})"
)
# Numbers, digests, paths, files, calls, addresses, tags, and algorithms with a size.
_NO_PASSWORD = compiled(
    r"[0-9.]+$|[0-9a-f-]+$|[0-9A-F-]+$|[#@%&/-]|.*(?:/.*/|\.[a-z]{2,5}$|@[a-z-]+\.)|"
    r"(?i:u?int|float|base|sha|utf|ed|ipv|rsa|aes|md|x|rfc|iso|http|oauth|argon|python|py|v|ecdsa|p)-?[0-9]+"
)
# Two capitalised words and a number that is not a year: camelCase, but few names end so.
_WORDS_AND_NUMBER = compiled(
    r"[A-Z][a-z]{2,11}[-_.@#$%&*+!~^]?[A-Z][a-z]{2,11}(?!(?:19|20)[0-9]{2})[0-9]{3,4}[!?#$%&*+.@~]{0,2}"
)
_BEFORE_PART = frozenset("_/-+.")  # before a part of a boundary, a digest or a number
# A bank account, percent-encoded text, a domain in other letters, a number.
_PUBLIC_FORM = compiled(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$|.*(?:%[0-9A-F]{2}|--|\&\w+=)|[0-9.e+-]+j?$")


def find(context: Context, taken: Collection[Span]) -> Iterator[Span]:
    """Spans of words that may be passwords, at their first place, outside of `taken`; at most `_MOST`."""
    text = context.text
    named = bool(context.credential_words)
    covered = bytearray(len(text))
    for first, last in taken:
        covered[first:last] = b"\1" * (last - first)
    left = _MOST
    words = [word for word in dict.fromkeys(text.split()) if _LONGEST_WORD >= len(word) >= _SHORTEST]
    for word in islice(filter(_MARK.search, words), _CHECKED):
        for piece in _PIECE.findall(word):
            bare = piece.strip(_ENDS)
            if (
                not _SHORTEST <= len(bare) <= _LONGEST
                or not _MARK.search(bare)
                or not bare.isascii()
                or _NO_PASSWORD.match(bare)
            ):
                continue
            strong = _UNNAMED.match(bare) is not None
            if not strong and not (named and _NAMED.match(bare)):
                continue
            start = text.find(bare)
            end = start + len(bare)
            if any(covered[start:end]):
                continue
            if (strong or context.is_near(start, end)) and not _is_harmless(bare, start, context):
                yield start, end
                left -= 1
                if left <= 0:
                    return


def _is_harmless(word: str, start: int, context: Context) -> bool:
    """Whether the word at `start` is an id, a name, a path or encoded text, whatever is said about it."""
    return _is_public_place(word, start, context) or _is_public_form(word)


def _is_public_place(word: str, start: int, context: Context) -> bool:
    """Whether what stands around the word makes it a part of a link, a digest, an address or code."""
    before, end = context.text[start - 1 : start], start + len(word)
    return (
        before in _BEFORE_PART
        or (before == "=" and "&" in word)
        or context.follows_public_marker(start)
        or context.follows_id_name(start)
        or context.in_link(start)
        or context.is_code(start, end)
        or context.is_mailbox(start, end)
        or context.is_within_word(start, end)
        or any(block.start <= start < block.end for block in context.blocks)
    )


def _is_public_form(word: str) -> bool:
    """Whether no password is spelled like the word."""
    if _PUBLIC_FORM.match(word) or shapes.is_format_string(word.lstrip("!@&")):
        return True
    if shapes.is_identity(word) or shapes.is_path(word) or shapes.is_example(word):
        return True
    if not _WORDS_AND_NUMBER.fullmatch(word) and (has_harmless_shape(word) or shapes.is_slug(word)):
        return True
    return shapes.is_placeholder(word, surprise(word)) or encodes_text(word)
