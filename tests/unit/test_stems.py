"""Stems are kept with the memories: they are the same whether they are made in C or, where that is not there, in Python."""

from __future__ import annotations

import importlib
import itertools

import pytest
import snowballstemmer

from shared.languages import LATIN

_STEMS = (
    "running",
    "wohnung",
    "maison",
    "ragazz",
    "hermos",
    "krásn",
    "работа",
    "γλωσσ",
    "كتاب",
    "großmütter",
    "bicycl",
)
_ENDS = (
    "",
    "s",
    "ing",
    "ed",
    "ness",
    "ungen",
    "ement",
    "mente",
    "ción",
    "issimo",
    "ých",
    "ого",
    "ами",
    "ών",
    "ات",
    "e",
    "en",
)
_WORDS = ["".join(both) for both in itertools.product(_STEMS, _ENDS)]


@pytest.mark.parametrize("language", [one.stemmer for one in LATIN] + ["russian", "greek", "arabic"])
def test_a_stem_is_the_same_in_c_and_in_python(language: str) -> None:
    in_use = snowballstemmer.stemmer(language)
    module = importlib.import_module(f"snowballstemmer.{language}_stemmer")
    in_python = getattr(module, f"{language.capitalize()}Stemmer")()

    assert type(in_use) is not type(in_python)
    assert [in_use.stemWord(word) for word in _WORDS] == [in_python.stemWord(word) for word in _WORDS]
    assert any(in_use.stemWord(word) != word for word in _WORDS)
