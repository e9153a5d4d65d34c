"""The lexemes of a text: what keyword search compares, the same for both engines and both services.

A lexeme is a folded word (lower case, no accents), a word as it is written when that differs, a stem, the whole of a
code (`AB-1234/7`) beside its parts, or one or two characters of a script without spaces. Every lexeme is such that
PostgreSQL's `to_tsvector('simple', …)` keeps it as one token in any locale.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from shared.folding import BOND, fold, lexeme
from shared.languages import ENGLISH, Language, languages_of, latin, stem

LONGEST = 32_768
"""The most code points that `lemmatized` gives: an engine that indexes `left(text_lemmatized, 32768)` loses nothing."""

_LONGEST_TEXT = 16_384
"""Code points of a text that are read: twice the longest memory."""
_MOST = 10_000
"""Lexemes of a text: a tsvector holds positions up to 16,383."""
_MOST_ALIKE = 255
"""Times that one lexeme counts: a tsvector keeps as many positions of it."""
_LONGEST_STEMMED = 64
_FAINT = 2
"""A score that one stop word gives: too little to choose English over others that have it too."""

_MARKS = "".join(c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c)[0] == "M")
_WORD = rf"[^\W_{_MARKS}][^\W_{_MARKS}]*(?:[{_MARKS}]+[^\W_{_MARKS}]*)*"
_TOKEN = re.compile(rf"{_WORD}(?:['’_\-‐‑–/.:#@+&]{_WORD})*")
_PART = re.compile(_WORD)
_PILED = re.compile(rf"([{_MARKS}]{{8}})[{_MARKS}]+")
"""Marks beyond what any script piles on a letter: ordering them would cost the square of their number."""
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\U00020000-\U0003347f]+)"
)
_ALONE = re.compile("[\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003347f]")
"""Characters that are a word by themselves: Han."""
_INVISIBLE = dict.fromkeys([0xAD, 0x200C, 0x200D, 0x2060, 0xFEFF])
_TAILS = frozenset(["s", "d", "m", "ll", "re", "ve"])


def lexemes(text: str) -> list[str]:
    """The lexemes of a remembered text, in order, with repeats, at most 10,000 (and 255 of one kind)."""
    seen: Counter[str] = Counter()
    found: list[str] = []
    room = LONGEST
    for one in _of_memory(text):
        room -= len(one) + 1
        if room < 0 or len(found) == _MOST:
            break
        seen[one] += 1
        if seen[one] <= _MOST_ALIKE:
            found.append(one)
    return found


def lemmatized(text: str) -> str:
    """The lexemes of a text as one text: what is kept in `text_lemmatized`. At most `LONGEST` code points."""
    return " ".join(lexemes(text))


@dataclass(frozen=True, slots=True)
class Query:
    """What a query looks for: distinct lexemes, and for each the number of the word that it stands for.

    A word and its stems are one thing looked for: a memory that has both has it once.
    """

    lexemes: tuple[str, ...]
    groups: tuple[int, ...]


def query(text: str, limit: int = 32) -> Query:
    """The first `limit` distinct lexemes that a query looks for: of numbers and codes first, then in order."""
    groups: dict[str, int] = {}
    for number, group in enumerate(_of_query(text, limit)):
        for one in group:
            groups.setdefault(one, number)
    first = list(islice(groups.items(), limit))
    return Query(tuple(one for one, _ in first), tuple(number for _, number in first))


def query_lexemes(text: str, limit: int = 32) -> list[str]:
    """The lexemes of `query`."""
    return list(query(text, limit).lexemes)


def _of_memory(text: str) -> Iterator[str]:
    tokens = _tokens(text)
    languages, _ = latin(chain.from_iterable(tokens))
    told = [ENGLISH] if ENGLISH in languages else languages
    for token in _without_stops(tokens, told):
        for group in _of_token(token, told, of_memory=True):
            yield from group


def _of_query(text: str, limit: int) -> Iterator[list[str]]:
    tokens = _tokens(text)
    languages, score = latin(chain.from_iterable(tokens))
    told = [ENGLISH] if ENGLISH in languages and score > _FAINT else languages
    sought = dict.fromkeys(map(tuple, _without_stops(tokens, told)))
    for token in sorted(sought, key=lambda parts: not any(map(_numbered, parts)))[:limit]:
        yield from _of_token(token, told, of_memory=False)


def _of_token(token: Sequence[str], languages: Sequence[Language], *, of_memory: bool) -> Iterator[list[str]]:
    """The whole of joined words, then each word (with its stems) or character pair: a group of lexemes each."""
    if len(token) > 1:
        yield [lexeme(BOND.join(map(fold, token)))]
    for word in _parts_sought(token, languages):
        for run in (word,) if word.isascii() else _UNSPACED.split(word):
            if not run.isascii() and _UNSPACED.fullmatch(run):
                yield from ([one] for one in _of_unspaced(run, of_memory=of_memory))
            elif run:
                yield _of_word(run, languages, of_memory=of_memory)


def _of_word(word: str, languages: Sequence[Language], *, of_memory: bool) -> list[str]:
    """Folded; in a memory also as written, for clients that do not fold; and its stems."""
    folded = fold(word)
    found = [lexeme(folded)]
    if of_memory and word != folded and word == lexeme(word):
        found.append(word)
    if len(word) <= _LONGEST_STEMMED and not word.isdigit():
        stems = (fold(stem(language.stemmer, word)) for language in languages_of(word, languages))
        found.extend(lexeme(one) for one in dict.fromkeys(stems) if one not in {"", folded})
    return found


def _of_unspaced(run: str, *, of_memory: bool) -> Iterator[str]:
    """Pairs of neighbours; single characters too, in a memory when they may be words and in a query of one."""
    for at, character in enumerate(run):
        if len(run) == 1 or (of_memory and _ALONE.match(character)):
            yield lexeme(character)
        if at + 1 < len(run):
            yield lexeme(run[at : at + 2])


def _tokens(text: str) -> list[list[str]]:
    """The words of a text, lower case; those that one sign joins (`AB-1234/7`, `o'brien`) in one list."""
    text = text[:_LONGEST_TEXT]
    if not text.isascii():
        text = _PILED.sub(r"\1", text)
        text = unicodedata.normalize("NFKC", text)[:_LONGEST_TEXT].translate(_INVISIBLE)
        text = "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in text)
    return [token for match in _TOKEN.finditer(text.lower()) if (token := _parts(match[0]))]


def _parts(token: str) -> list[str]:
    """The words in a token without English contractions: `ana's` is `ana`, and `don't` nothing."""
    parts = _PART.findall(token)
    if len(parts) > 1 and token[-len(parts[-1]) - 1] in "'’":
        if parts[-1] == "t":
            return parts[:-2]
        if parts[-1] in _TAILS:
            return parts[:-1]
    return parts


def _parts_sought(token: Sequence[str], languages: Sequence[Language]) -> Sequence[str]:
    """The parts of a token without stop words (`state-of-the-art`), but all of a code's (`A-12`)."""
    if len(token) == 1 or any(map(_numbered, token)):
        return token
    return [word for word in token if not _stops(word, languages)]


def _numbered(word: str) -> bool:
    return not word.isalpha() and any(c.isdigit() for c in word)


def _without_stops(tokens: Sequence[list[str]], languages: Sequence[Language]) -> list[list[str]]:
    """Tokens without stop words; all of them when there is nothing else (`The Who`, `to be or not to be`)."""
    return [token for token in tokens if len(token) > 1 or not _stops(token[0], languages)] or list(tokens)


def _stops(word: str, languages: Sequence[Language]) -> bool:
    folded = fold(word)
    known = languages_of(word, languages)
    return bool(known) and all(folded in language.stops for language in known)
