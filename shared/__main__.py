"""`python -m shared`: the `runtime-memory` command where it is not installed."""

from __future__ import annotations

from shared.cli import main

if __name__ == "__main__":
    main()
