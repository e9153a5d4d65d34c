"""What is learned from a turn: kept in the queue before its last bytes are sent, and never in its way."""

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
_PATIENCE = 1.0
"""Seconds that the end of an answer may wait for the queue: a store that is slow delays no conversation noticeably."""

log = structlog.get_logger()


class Learner:
    """Hands turns to the queue in tasks of its own, a bounded number of them."""

    def __init__(self, learning: Learning, appspecs: Appspecs) -> None:
        self._learning = learning
        self._appspecs = appspecs
        self._tasks: set[asyncio.Task[None]] = set()
        self.left_out = 0
        """Turns that were not kept, since the start."""
        self.late = 0
        """Turns whose answer had ended before they were kept: a process that dies in between loses one."""

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

    def teaching(self, caller: Caller, wishes: Wishes, said: str) -> Teaching:
        """A turn that begins now."""
        return Teaching(self, caller, wishes, said)

    def begin(self, teaching: Teaching) -> asyncio.Task[None] | None:
        """Hand a turn to the queue, in a task that goes on whoever leaves; None when it teaches nothing."""
        if not self.teaches(teaching.wishes, teaching.said):
            return None
        if len(self._tasks) >= _MOST_AT_ONCE:
            self._leave_out("busy")
            return None
        task = asyncio.create_task(self._learn(teaching))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Let what was begun finish."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_FINISH_WITHIN)

    def _leave_out(self, why: str) -> None:
        self.left_out += 1
        log.warning("chat.learn.left_out", why=why)

    async def _learn(self, teaching: Teaching) -> None:
        caller, wishes = teaching.caller, teaching.wishes
        try:
            scope = scope_of(caller, wishes.application or "")
            lesson = _lesson(wishes, teaching.said, teaching.heard)
            await learn(self._learning, scope, lesson, by_of(caller, Door.CHAT))
        except ServiceError as error:
            self._leave_out(error.code)
        except Exception as error:  # noqa: BLE001 (memory never fails a conversation)
            self.left_out += 1
            log.error("chat.learn.error", **fault(error))


class Teaching:
    """One turn, which is learned from once, however it ends."""

    def __init__(self, learner: Learner, caller: Caller, wishes: Wishes, said: str) -> None:
        self.caller = caller
        self.wishes = wishes
        self.said = said
        self.heard = Heard()
        self._learner = learner
        self._begun = False

    def begin(self) -> asyncio.Task[None] | None:
        """Have it kept, unless that was begun before; nobody waits."""
        if self._begun:
            return None
        self._begun = True
        return self._learner.begin(self)

    async def kept(self) -> None:
        """Have it kept, and wait for that a moment. It never raises: a conversation ends well whatever memory does."""
        task = self.begin()
        if task is not None and not (await asyncio.wait({task}, timeout=_PATIENCE))[0]:
            self._learner.late += 1
            log.warning("chat.learn.late")


def _lesson(wishes: Wishes, said: str, heard: Heard) -> Lesson:
    user = Message("user", said)
    if wishes.learn == "verbatim":
        return Lesson(messages=[user], infer=False)
    return Lesson(messages=[user, Message("assistant", heard.text)] if heard.text else [user])
