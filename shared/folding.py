"""How a word becomes a lexeme: folded, and such that PostgreSQL's parser keeps it whole in any locale."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache

LONGEST = 64
"""Code points of a lexeme; a longer word is kept by its digest."""
BOND = "ø"
"""Joins the parts of a whole; folding makes `o` of it, so no word holds it by itself."""

_ACCENTS = dict.fromkeys([*range(0x300, 0x370), *range(0x591, 0x5C8), *range(0x64B, 0x660), 0x670, 0x640])
_LETTERS = str.maketrans({"ł": "l", "đ": "d", "ø": "o", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th"})
_EXPONENT = re.compile(r"\d+e\d+[^\d]")
"""What PostgreSQL's parser would split: it reads `1e5` of `1e5b` as a number."""


@lru_cache(maxsize=16_384)
def fold(word: str) -> str:
    """The word without case, accents and the like: `Kůň` and `kun` fold alike."""
    if word.isascii():
        return word
    bare = unicodedata.normalize("NFKD", word.casefold()).translate(_ACCENTS)
    return unicodedata.normalize("NFC", bare).lower().translate(_LETTERS)


def lexeme(word: str) -> str:
    """The word, or a stand-in for one that PostgreSQL's parser would cut, change or refuse."""
    if len(word) > LONGEST:
        return f"{BOND}z{hashlib.blake2b(word.encode(), digest_size=12).hexdigest()}"
    if word[:1].isdigit() and _EXPONENT.match(word):
        return BOND + word
    if word.isascii() or all(c.isascii() or _keeps(c) for c in word):
        return word
    return f"{BOND}x{word.encode().hex()}"


@lru_cache(maxsize=16_384)
def _keeps(character: str) -> bool:
    """Whether every locale takes the character for a letter that is in lower case already."""
    kind = unicodedata.category(character)
    return kind in {"Ll", "Lo", "Lm"} and character <= "\uffff" and character.lower() == character
