"""The words of a memory as they are kept: white space folded, checked, within a length."""

from __future__ import annotations

import unicodedata

from shared.errors import BadValue

LEARNED_LONGEST = 8_000
"""Code points of one learned memory."""

CORRECTED_LONGEST = 2_000
"""Code points of a corrected memory (contract 000)."""

_INVISIBLE = frozenset({"Cf", "Cc", "Zs", "Zl", "Zp"})


def folded(value: object, *, longest: int, subject: str, empty: str) -> str:
    """White space collapsed to single spaces.

    Raises BadValue: not text, empty (also of invisible characters only), over `longest` code points, or with a NUL or
    a lone surrogate, which no store can keep. `subject` begins the sentence about the length; `empty` is the sentence
    for nothing said.
    """
    if not isinstance(value, str):
        raise BadValue(f"{subject} is text.")
    words = " ".join(value.split())
    if not says_something(words):
        raise BadValue(empty)
    if len(words) > longest:
        raise BadValue(f"{subject} is at most {longest} characters, not {len(words)}.")
    check_text(words, subject)
    return words


def says_something(text: str) -> bool:
    """Whether a text has a character that is seen: white space and zero-width ones say nothing."""
    return any(unicodedata.category(c) not in _INVISIBLE for c in text)


def check_text(text: str, subject: str) -> None:
    """Raises BadValue when a text has a NUL or a lone surrogate."""
    if "\0" in text:
        raise BadValue(f"{subject} has a NUL character.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadValue(f"{subject} has a lone surrogate.") from error


def corrected_words(value: object) -> str:
    """The words of a correction, by either service. Raises BadValue with the sentences of contract 000."""
    return folded(
        value,
        longest=CORRECTED_LONGEST,
        subject="A correction",
        empty="A correction says what it should remember: it is empty.",
    )


def learned_words(value: object) -> str:
    """The words of a learned memory. Raises BadValue."""
    return folded(
        value, longest=LEARNED_LONGEST, subject="A memory", empty="A memory says what to remember: it is empty."
    )
