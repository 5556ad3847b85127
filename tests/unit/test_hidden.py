"""`assert_hidden` never shows the secret."""

import pytest

from hidden import assert_hidden

SECRET = "gh" + "p_" + "a1B2" * 9


@pytest.mark.parametrize("place", [f"a {SECRET} b", f"a {SECRET} b".encode(), [SECRET], ValueError(SECRET)])
@pytest.mark.parametrize("secret", [SECRET, SECRET.encode()])
def test_failure_names_the_place_without_the_secret(secret: str | bytes, place: object) -> None:
    with pytest.raises(pytest.fail.Exception) as caught:
        assert_hidden(secret, "nothing", place)
    message = str(caught.value)
    assert "40 characters" in message
    assert "place 2" in message
    assert all(SECRET[at : at + 5] not in message for at in range(36))


def test_absent_secret_passes() -> None:
    assert_hidden(SECRET, "", b"", None, SECRET[:-1])


def test_empty_secret_is_an_error() -> None:
    with pytest.raises(AssertionError, match="empty"):
        assert_hidden("", "text")
