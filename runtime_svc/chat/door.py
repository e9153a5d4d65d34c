"""What the conversations of a runtime need: the provider, a time for recalling, and who learns."""

from __future__ import annotations

from dataclasses import dataclass, field

from runtime_svc.chat.learning import Learner
from runtime_svc.chat.provider import Provider
from runtime_svc.chat.room import MOST_OF_NOBODY, MOST_OF_PERSONS, Room


@dataclass(frozen=True, slots=True)
class ChatDoor:
    """Opened and closed by `runtime_svc.resources`."""

    provider: Provider
    learner: Learner
    recall_seconds: float
    serves_nobody: bool
    """Whether a conversation of nobody is passed on, with nothing recalled or kept."""
    persons: Room = field(default_factory=lambda: Room(MOST_OF_PERSONS))
    nobodys: Room = field(default_factory=lambda: Room(MOST_OF_NOBODY))
    """Whoever calls without a credential takes no room from those who have one."""
