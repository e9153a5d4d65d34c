"""What is learned from a turn, after it was answered and out of its way."""

from __future__ import annotations

import asyncio

import structlog

from runtime_svc.appspecs import Appspecs
from runtime_svc.chat.hearing import Heard
from runtime_svc.chat.wishes import Wishes
from runtime_svc.learning import Learning, learn
from runtime_svc.lesson import Lesson
from runtime_svc.ports import Message
from shared.errors import ServiceError
from shared.logs import fault
from shared.records import Door
from shared.tokens import Caller, by_of, scope_of

_MOST_AT_ONCE = 1000
LONGEST = 100_000
"""Code points of a message that is learned from: what is longer is a document, not something that is said."""
_FINISH_WITHIN = 10.0

log = structlog.get_logger()


class Learner:
    """Hands turns to the queue in tasks of its own, a bounded number of them."""

    def __init__(self, learning: Learning, appspecs: Appspecs) -> None:
        self._learning = learning
        self._appspecs = appspecs
        self._tasks: set[asyncio.Task[None]] = set()

    def teaches(self, wishes: Wishes, said: str) -> bool:
        """Whether anything is learned of a turn in which the user says this."""
        if wishes.application is None or not wishes.config.enabled or wishes.learn == "off" or not said.strip():
            return False
        if self._appspecs.why_not(wishes.application) is not None:
            return False
        return wishes.learn == "verbatim" or self._learning.extractor is not None

    def listens(self, wishes: Wishes, said: str) -> bool:
        """Whether the assistant's words are heard as well: an LLM finds the facts of the whole turn."""
        return wishes.learn is None and self.teaches(wishes, said)

    def later(self, caller: Caller, wishes: Wishes, said: str, heard: Heard) -> None:
        """Learn of a turn; the caller does not wait for it."""
        if not self.teaches(wishes, said):
            return
        if len(self._tasks) >= _MOST_AT_ONCE:
            log.warning("chat.learn.left_out", why="busy")
            return
        task = asyncio.create_task(self._learn(caller, wishes, said, heard))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Let what was begun finish."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_FINISH_WITHIN)

    async def _learn(self, caller: Caller, wishes: Wishes, said: str, heard: Heard) -> None:
        try:
            scope = scope_of(caller, wishes.application or "")
            await learn(self._learning, scope, _lesson(wishes, said, heard), by_of(caller, Door.CHAT))
        except ServiceError as error:
            log.warning("chat.learn.left_out", why=error.code)
        except Exception as error:  # noqa: BLE001 (memory never fails a conversation)
            log.error("chat.learn.error", **fault(error))


def _lesson(wishes: Wishes, said: str, heard: Heard) -> Lesson:
    user = Message("user", said)
    if wishes.learn == "verbatim":
        return Lesson(messages=[user], infer=False)
    return Lesson(messages=[user, Message("assistant", heard.text)] if heard.text else [user])
