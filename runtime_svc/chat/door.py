"""What the conversations of a runtime need: the provider, a time for recalling, and who learns."""

from __future__ import annotations

from dataclasses import dataclass

from runtime_svc.chat.learning import Learner
from runtime_svc.chat.provider import Provider


@dataclass(frozen=True, slots=True)
class ChatDoor:
    """Opened and closed by `runtime_svc.resources`."""

    provider: Provider
    learner: Learner
    recall_seconds: float
    serves_nobody: bool
    """Whether a conversation of nobody is passed on, with nothing recalled or kept."""
