"""The day, month, year or span that a question names: memories learned then are preferred."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner leden ledna lednu",
            "february feb februar únor února únoru",
            "march mar märz březen března březnu",
            "april apr duben dubna dubnu",
            "may mai květen května květnu",
            "june jun juni červen června červnu",
            "july jul juli červenec července červenci",
            "august aug srpen srpna srpnu",
            "september sep sept září",
            "october oct oktober říjen října říjnu",
            "november nov listopad listopadu",
            "december dec dezember prosinec prosince prosinci",
        ),
        start=1,
    )
    for name in names.split()
}
_WORDS_TOO = frozenset(["may", "march", "mar", "mai"])
"""Months that are other words as well, unless a capital inside the question, or a number, says which."""
_NAME = "|".join(sorted(_MONTHS, key=len, reverse=True))
_YEAR = r"(?:19|20)\d\d"
_ISO = re.compile(rf"\b({_YEAR})-(\d\d)(?:-(\d\d))?\b")
_POINTED = re.compile(rf"\b(\d{{1,2}})\.\s?(\d{{1,2}})\.\s?({_YEAR})\b")
_NAMED = re.compile(
    rf"(?:\b(\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?)?\b({_NAME})\b\.?(?:\s+(\d{{1,2}})(?:st|nd|rd|th)?\b)?"
    rf"(?:,?\s+({_YEAR})\b)?",
    re.IGNORECASE,
)
_A_WORD = re.compile(r"\w+")
_AGO = re.compile(r"\b(\d{1,3})\s+(day|week|month|year)s?\s+ago\b", re.IGNORECASE)
_LAST = re.compile(r"\b(last|this|past)\s+(week|month|year)\b", re.IGNORECASE)
_NEAR = re.compile(r"\b(today|yesterday|heute|gestern|dnes|včera)\b", re.IGNORECASE)
_BARE = re.compile(rf"\b({_YEAR})\b")
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_FADES = 10
"""Days before and after a period in which nearness falls to nothing."""
_LONGEST = 2_000
"""Code points of a question that are read."""


@dataclass(frozen=True, slots=True)
class Period:
    """From a day to a day, both included; of any year when `yearly`."""

    first: date
    last: date
    yearly: bool = False

    def nearness(self, day: date) -> float:
        """1 within, falling to 0 over ten days before and after."""
        spans = [(self.first, self.last)]
        if self.yearly:
            length = self.last - self.first
            starts = [_day(day.year + step, self.first.month, self.first.day) for step in (-1, 0, 1)]
            spans = [(start, start + length) for start in starts if start is not None]
        distance = min((max((first - day).days, (day - last).days, 0) for first, last in spans), default=_FADES)
        return max(0.0, 1 - distance / _FADES)


def named(question: str, today: date) -> Period | None:
    """The first period that a question names, in English, German, Czech or digits; None when it names none."""
    question = question[:_LONGEST]
    try:
        return _written(question) or _by_month(question) or _relative(question, today) or _by_year(question)
    except OverflowError:  # before the year 1
        return None


def _written(question: str) -> Period | None:
    if found := _ISO.search(question):
        year, month, day = (int(part) if part else None for part in found.groups())
        return _of(year, month or 0, day)
    if found := _POINTED.search(question):
        return _of(int(found[3]), int(found[2]), int(found[1]))
    return None


def _by_month(question: str) -> Period | None:
    if _MONTHS.keys().isdisjoint(_A_WORD.findall(question.lower())):  # most questions: a tenth of what looking costs
        return None
    for found in _NAMED.finditer(question):
        before, name, after, year = found.groups()
        if name.lower() not in _MONTHS:  # `aprıl` is `april` to a pattern that minds no case
            continue
        day = before or after
        if name.lower() in _WORDS_TOO and (name.islower() or found.start() == 0) and not (day or year):
            continue
        period = _of(int(year) if year else None, _MONTHS[name.lower()], int(day) if day else None)
        if period is not None:
            return period
    return None


def _relative(question: str, today: date) -> Period | None:
    if found := _NEAR.search(question):
        day = today if found[1].lower() in {"today", "heute", "dnes"} else today - timedelta(days=1)
        return Period(day, day)
    if found := _AGO.search(question):
        unit = _DAYS[found[2].lower()]
        day = today - timedelta(days=int(found[1]) * unit)
        return Period(day - timedelta(days=unit // 2), day + timedelta(days=unit // 2))
    if found := _LAST.search(question):
        days = timedelta(days=_DAYS[found[2].lower()])
        end = today if found[1].lower() != "last" or days.days < 30 else today - timedelta(days=1)
        return Period(end - 2 * days if found[1].lower() == "last" else end - days, end)
    return None


def _by_year(question: str) -> Period | None:
    found = _BARE.search(question)
    return Period(date(int(found[1]), 1, 1), date(int(found[1]), 12, 31)) if found else None


def _of(year: int | None, month: int, day: int | None) -> Period | None:
    first = _day(year or 2000, month, day or 1)
    if first is None:
        return None
    last = first if day else (first.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    return Period(first, last, yearly=year is None)


def _day(year: int, month: int, day: int) -> date | None:
    """The day, 28 February for one that only leap years have; None when there is none."""
    try:
        return date(year, month, day)
    except ValueError:
        return date(year, 2, 28) if (month, day) == (2, 29) and 0 < year < 10_000 else None
