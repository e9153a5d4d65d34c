"""Where released software that tests drive is kept once fetched: per user, so that a fresh clone need not fetch again."""

from __future__ import annotations

import os
from pathlib import Path

FETCHED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "runtime-memory-tests"

NPM_INSTALL = ("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix")
"""Without the scripts of packages: a client's optional native parts would be compiled, with headers from the network."""
