import json
import subprocess
import sys
from typing import Any

import pytest

_SAYS = """
import structlog
from shared.logs import configure
configure("runtime")
structlog.get_logger().info("request", {said})
"""


def line(said: str) -> dict[str, Any]:
    """What a process of its own writes of one event: configuring logs is once for a process."""
    ran = subprocess.run([sys.executable, "-c", _SAYS.format(said=said)], capture_output=True, check=True)
    (one,) = ran.stdout.splitlines()
    found: dict[str, Any] = json.loads(one)
    return found


def test_an_event_is_one_line_of_json() -> None:
    said = line("status=200, route='/ünï\\n'")

    assert said.pop("timestamp").endswith("Z")
    assert said == {"event": "request", "service": "runtime", "level": "info", "status": 200, "route": "/ünï\n"}


_LIBRARY = """
import logging
from shared.logs import configure
configure("runtime")
logger = logging.getLogger({name!r})
try:
    raise ValueError("zanzibar")
except ValueError:
    logger.exception("zanzibar %s", "zanzibar")
logger.info("zanzibar")
"""


@pytest.mark.parametrize("name", ["aiohttp.server", "aiohttp.client", "nobody.thought.of"])
def test_a_library_says_that_there_was_a_fault_and_never_what(name: str) -> None:
    ran = subprocess.run([sys.executable, "-c", _LIBRARY.format(name=name)], capture_output=True, check=True)

    said = json.loads(ran.stdout)
    assert (said["event"], said["logger"], said["error"]) == ("library", name, "ValueError")
    assert b"zanzibar" not in ran.stdout + ran.stderr


def test_what_utf_8_cannot_say_is_logged_all_the_same() -> None:
    assert line("file='a\\udcffb'")["file"] == "a\udcffb"


def test_what_json_cannot_say_is_logged_all_the_same() -> None:
    assert line("value={1, }")["value"] == "{1}"
