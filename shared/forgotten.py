"""What a forgetting did."""

from __future__ import annotations

from typing import Any, Self


class Forgotten(int):
    """How many memories were forgotten, and how many of the person's snapshots still hold something of them."""

    held_by_snapshots: int

    def __new__(cls, count: int, held_by_snapshots: int = 0) -> Self:
        """Nothing of `held_by_snapshots` counts: a snapshot is a copy that the person made on purpose."""
        made = super().__new__(cls, count)
        made.held_by_snapshots = held_by_snapshots
        return made

    def shown(self, name: str = "forgotten") -> dict[str, Any]:
        """As every door answers it: the count under its own name, and the snapshots where there are any."""
        held = {"held_by_snapshots": self.held_by_snapshots} if self.held_by_snapshots else {}
        return {name: int(self), **held}
