"""`python -m bench.million`: what `bench.stores` measures, at a million memories.

A part of its own, for stock's HNSW index of a million takes a quarter of an hour and 4 GB of memory; 8 GB of disk.
"""

from __future__ import annotations

from bench.running import run
from bench.stores import main

if __name__ == "__main__":
    run(main([1_000_000], "million"))
