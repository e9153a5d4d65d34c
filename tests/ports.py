"""Ports for what is started later, or stopped and started again: of no use to anybody else meanwhile."""

from __future__ import annotations

import itertools
import os
import random
import socket

_FIRST, _COUNT = 12_000, 4_000
"""Below those that the system gives to whoever asks for any; so many for each process of a test run."""
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 4
_NEXT = itertools.count(random.randrange(_COUNT))


def free_port() -> int:
    """One that nobody listens on, and that no other process of this run is given."""
    while True:
        port = _FIRST + _WORKER * _COUNT + next(_NEXT) % _COUNT
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
