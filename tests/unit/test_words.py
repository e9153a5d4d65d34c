"""Lexemes are made of any text, the same everywhere, and find a memory by its own words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.words import LONGEST, lemmatized, lexemes, query, query_lexemes


def finds(sought: str, words: str) -> bool:
    return bool(set(query_lexemes(sought)) & set(lexemes(words)))


@pytest.mark.parametrize(
    ("sought", "words"),
    [
        ("running shoes", "Ana ran in her shoe"),
        ("KUN", "Žluťoučký kůň pije vodu"),
        ("káva", "Ana pije kávu v Brně, kde pracuje"),
        ("kava", "Ana pije kávu v Brně, kde pracuje"),
        ("kávou", "Moje káva je bez cukru"),
        ("Apfel", "Ich esse gerne Äpfel in der Strasse"),
        ("STRASSE", "Sie wohnt in der Straße am See"),
        ("Hunde", "Sie hat einen Hund"),
        ("東京", "東京タワーに行きました"),
        ("猫", "私は猫が好きです"),
        ("タワー", "東京タワーに行きました"),
        ("قهوة", "أحب القهوة في الصباح"),
        ("الصباح", "أَشْرَبُ القهوةَ في الصَّباح"),
        ("2023", "ولدت في سنة ٢٠٢٣"),
        ("ไทย", "เธอพูดภาษาไทย"),
        ("서울", "서울에서 만나요"),
        ("собака", "У него две собаки"),
        ("हिन्दी", "वह हिन्दी बोलती है"),
        ("Caroline", "Caroline's dog"),
        ("ｆｕｌｌ ｗｉｄｔｈ", "full width"),
    ],
)
def test_a_memory_is_found_by_its_own_words_in_its_language(sought, words):
    assert finds(sought, words)


@pytest.mark.parametrize("words", ["猫が好き", "Ana pije kávu", "Die Straße", "أحب القهوة", "ภาษาไทย", "The Who"])
def test_a_memory_is_found_by_all_of_its_words(words):
    found = set(lexemes(words))

    assert set(query_lexemes(words)) & found
    assert len(set(query_lexemes(words)) - found) * 2 <= len(query_lexemes(words))


@pytest.mark.field("S14")
@pytest.mark.parametrize(
    "sought", ["AB-1234/7", "ab-1234/7", "AB_1234-7", "1234", "order ab", "is it AB-1234/7?", "«AB-1234/7»"]
)
def test_a_code_is_found_whole_and_by_part(sought):
    assert finds(sought, "Her order number is AB-1234/7.")


def test_the_whole_of_a_code_tells_it_from_one_of_the_same_parts():
    sought = query_lexemes("AB-1234/7")[0]

    assert sought in lexemes("AB-1234/7")
    assert sought not in lexemes("AB-12347")
    assert sought not in lexemes("1234 and AB and 7")


def test_codes_are_sought_before_words_when_there_is_no_room_for_all():
    long_question = " ".join(f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(200)) + " ORD_99812"

    assert {"ord", "99812"} < set(query_lexemes(long_question, 8))


def test_a_query_of_only_stop_words_finds_a_memory_of_only_those():
    assert finds("to be or not to be", "To be, or not to be")
    assert not finds("to be or not to be", "She wants to be a nurse")


def test_stop_words_of_the_language_are_not_kept():
    assert lexemes("Where is the house of the person") == ["house", "hous", "person"]
    assert "und" not in lexemes("Der Hund und die Katze sind im Haus")


def test_the_accented_form_is_kept_too_for_clients_that_do_not_fold():
    assert {"kůň", "kun"} < set(lexemes("Žluťoučký kůň"))


def test_a_word_and_its_stem_are_one_thing_looked_for():
    found = query("Which houses does she own")
    by_group = dict(zip(found.lexemes, found.groups, strict=True))

    assert by_group["houses"] == by_group["hous"]


@pytest.mark.parametrize(
    "text", ["", "   ", "!!! ??? …", "\x00\x00", "😀👩‍👩‍👧🇨🇿", "\ud800\udfff", "\u200b\u200d", "'\"\\"]
)
def test_a_text_without_words_has_no_lexemes(text):
    assert lexemes(text) == query_lexemes(text) == []


def test_signs_of_query_languages_are_no_words():
    assert query_lexemes("a:* | cat & !dog <-> (mouse) '' \\ %") == ["cat", "dog", "mouse", "mous"]


@given(st.text())
def test_any_text_is_safe(text):
    found = lexemes(text)

    assert lemmatized(text) == " ".join(found)
    assert all(one and one == one.lower() and not one.isspace() and one.isprintable() for one in found)
    assert lemmatized(text).encode().decode() == lemmatized(text)
    assert all(one for one in query_lexemes(text))


@given(st.text(alphabet=st.characters(codec="utf-8", categories=["L", "N", "M"]), min_size=1, max_size=60))
def test_every_word_finds_itself(word):
    assert not lexemes(word) or finds(word, word)


HOSTILE = {
    "one word": "x" * 2**20,
    "distinct words": " ".join(f"w{i}q" for i in range(200_000)),
    "joined": "a-" * 2**19,
    "marks": "\u0301\u0316" * 2**19,
    "han": "".join(chr(0x4E00 + i % 20_000) for i in range(2**18)),
    "expanding": "\ufdfa" * 2**18,
    "accents": " ".join(f"ě{i:x}š" for i in range(200_000)),
    "one word again and again": "cat " * 2**18,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_of_a_huge_text_a_bounded_part_is_read_and_kept(text):
    found = lemmatized(text)
    sought = query_lexemes(text)

    assert lemmatized(text[:16_384]) == found, "what costs is the part that is read"
    assert query_lexemes(text[:16_384]) == sought
    assert len(found) <= LONGEST
    assert len(found.split()) <= 10_000
    assert len(sought) <= 32


def test_one_lexeme_counts_as_often_as_a_tsvector_keeps_it():
    assert lexemes("cat " * 300).count("cat") == 255
