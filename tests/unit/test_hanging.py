"""Addresses that hung: one sender at a time tries each, until it answers."""

from __future__ import annotations

import contextlib

from runtime_svc.webhooks.hanging import Hanging

URL = "https://one.example/hook"
OTHER = "https://one.example/other"


def hang(known: Hanging, url: str) -> None:
    with contextlib.suppress(TimeoutError), known.turn(url):
        raise TimeoutError


def test_an_address_that_never_hung_takes_many_at_once() -> None:
    known = Hanging()

    with known.turn(URL) as one, known.turn(URL) as another:
        assert (one, another) == (True, True)


def test_one_that_hung_is_tried_by_one_at_a_time_and_no_other_address_waits() -> None:
    known = Hanging()
    hang(known, URL)

    for _ in range(2):
        with known.turn(URL) as one, known.turn(URL) as another, known.turn(OTHER) as elsewhere:
            assert (one, another, elsewhere) == (True, False, True)
        hang(known, URL)


def test_one_that_failed_at_once_is_tried_again_by_one_at_a_time() -> None:
    known = Hanging()
    hang(known, URL)
    with contextlib.suppress(OSError), known.turn(URL):
        raise OSError

    with known.turn(URL), known.turn(URL) as another:
        assert not another


def test_one_that_answers_again_takes_many_at_once_again() -> None:
    known = Hanging()
    hang(known, URL)
    with known.turn(URL):
        pass

    with known.turn(URL) as one, known.turn(URL) as another:
        assert (one, another) == (True, True)


def test_who_began_before_it_was_known_does_not_open_it_for_others() -> None:
    known = Hanging()
    with known.turn(URL):
        hang(known, URL)
        with known.turn(URL):
            early = known.turn(OTHER)
            with early:
                pass
            with known.turn(URL) as another:
                assert not another
