"""What `make bench` runs: the stores, ours beside stock mem0.

`make bench ARGS="1000 10000"` says how many memories of others are stored.
"""

from __future__ import annotations

import asyncio
import sys

from bench import local

if __name__ == "__main__":
    asyncio.run(local.main([int(one) for one in sys.argv[1:]] or local.SIZES))
