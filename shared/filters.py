"""Filters of the Mem0 dialect: parse, check, a small tree (the grammar follows in its own change)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Filter:
    """A checked condition on memories, evaluated inside a scope that it can never widen."""
