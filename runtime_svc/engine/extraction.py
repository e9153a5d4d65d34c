"""Finds facts in a conversation with mem0's AsyncMemory, which decides; what it decided is handed back, not written."""

from __future__ import annotations

import asyncio
import dataclasses
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from runtime_svc.engine.checked_llm import CheckedLlm
from runtime_svc.engine.config import SETTING, EngineConfig, Provider
from runtime_svc.engine.failures import learn_failed
from runtime_svc.engine.library import load
from runtime_svc.engine.store_bridge import EmbedderBridge, StoreBridge, Turn, begin
from runtime_svc.engine.threads import SideLoop
from runtime_svc.ports import Extracted, LearnFailed, Message
from shared.payloads import Details, new_payload
from shared.records import Add
from shared.scope import Scope
from shared.settings import BadSettingError
from shared.stores.ports import Embedder, MemoryStore
from shared.times import now

_READ = ("user", "assistant", "system")
_SAID = ("user", "assistant")
_INVISIBLE = frozenset({"Cf", "Cc", "Zs", "Zl", "Zp", "Mn"})
# Names that mem0's own configuration accepts, under which our classes stand while it is constructed.
_STORE, _EMBEDDER = "faiss", "huggingface"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one runtime extracts at once, and for how long."""

    parallel: int = 4
    llm_seconds: float = 60.0
    """Of one call to the LLM."""
    seconds: float = 90.0
    """Of an extraction in all."""


class Mem0Extractor:
    """An Extractor on mem0's AsyncMemory.

    mem0 runs on an event loop of its own with threads of its own, so an LLM that hangs takes from extraction only. It
    is told one constant person and no metadata: whose memories are read is known from the turn alone.
    """

    def __init__(self, memory: Any, side: SideLoop, store: MemoryStore, embedder: Embedder, limits: Limits) -> None:
        self._memory = memory
        self._side = side
        self._store = store
        self._embedder = embedder
        self._limits = limits
        self._free = asyncio.Semaphore(limits.parallel)

    @classmethod
    async def open(
        cls, config: EngineConfig, store: MemoryStore, embedder: Embedder, *, limits: Limits | None = None
    ) -> Mem0Extractor:
        """Load mem0 and its LLM, off the loop. Raises BadSettingError for a provider that cannot be used."""
        limits = limits or Limits()
        if config.llm is None:
            raise BadSettingError(f"{SETTING} names no llm: there is nothing to extract with.")
        side = SideLoop(threads=limits.parallel, name="mem0")
        try:
            memory = await side.run(_construct(config, config.llm, limits.llm_seconds))
        except BaseException:
            await side.close()
            raise
        return cls(memory, side, store, embedder, limits)

    async def close(self) -> None:
        """Cancel what is being extracted and let the threads go."""
        await self._side.close()

    async def extract(
        self, scope: Scope, messages: Sequence[Message], *, details: Details, instructions: str | None = None
    ) -> Extracted:
        """See Extractor."""
        said = [message for message in messages if message.role in _READ and _says_something(message.content)]
        if not any(message.role in _SAID for message in said):
            return Extracted(changes=())
        turn = Turn(
            scope=scope,
            run_id=details.run_id,
            observed=details.learned_at or _latest(said),
            store=self._store,
            embedder=self._embedder,
            loop=asyncio.get_running_loop(),
            deadline=time.monotonic() + self._limits.seconds,
        )
        try:
            async with asyncio.timeout(self._limits.seconds), self._free:
                return await self._side.run(self._extract(turn, said, details, instructions))
        except TimeoutError as error:
            raise LearnFailed("Extraction did not end in time.", may_pass=True) from error

    async def _extract(
        self, turn: Turn, said: Sequence[Message], details: Details, instructions: str | None
    ) -> Extracted:
        """The part that runs on mem0's loop."""
        begin(turn)
        try:
            await self._memory.add([_told(message) for message in said], user_id="person", prompt=instructions)
        except Exception as error:
            raise learn_failed(turn.failure or error) from error
        if turn.failure is not None:  # mem0 swallows a failed embedding and reports success
            raise learn_failed(turn.failure) from turn.failure
        return await asyncio.to_thread(_extracted, turn, details)


def _extracted(turn: Turn, details: Details) -> Extracted:
    at = now()
    changes = [
        Add(
            planned.id,
            new_payload(planned.words, dataclasses.replace(details, attributed_to=planned.attributed_to), now=at),
            planned.vector,
        )
        for planned in turn.plan
    ]
    return Extracted(changes, turn.left_out)


def _says_something(content: str) -> bool:
    return any(unicodedata.category(c) not in _INVISIBLE for c in content)


def _told(message: Message) -> dict[str, str]:
    """In the shape in which mem0 reads it; where several people speak, the LLM is told who."""
    content = f"{message.name}: {message.content}" if message.name else message.content
    return {"role": message.role, "content": content}


def _latest(messages: Sequence[Message]) -> datetime | None:
    return next((message.at for message in reversed(messages) if message.at is not None), None)


async def _construct(config: EngineConfig, llm: Provider, seconds: float) -> Any:
    library = await asyncio.to_thread(load)
    return await asyncio.to_thread(_memory, library, config, llm, seconds)


def _memory(library: Any, config: EngineConfig, llm: Provider, seconds: float) -> Any:
    if llm.name not in library.LlmFactory.provider_to_class:
        known = ", ".join(sorted(library.LlmFactory.provider_to_class))
        raise BadSettingError(f"{SETTING}: mem0 knows no such llm provider; it knows {known}.")
    with registered(library), refusals("llm", llm):
        memory = library.AsyncMemory(
            library.MemoryConfig(
                llm={"provider": llm.name, "config": dict(llm.config)},
                vector_store={"provider": _STORE, "config": {"path": "unused"}},
                embedder={"provider": _EMBEDDER, "config": {}},
                history_db_path=":memory:",
                custom_instructions=config.instructions,
            )
        )
    memory.llm = CheckedLlm(memory.llm, seconds=seconds)
    return memory


@contextmanager
def registered(library: Any) -> Iterator[None]:
    """Our bridge in mem0's factories, under names that its configuration knows, for as long as it is constructed."""
    stores, embedders = library.VectorStoreFactory.provider_to_class, library.EmbedderFactory.provider_to_class
    before = stores[_STORE], embedders[_EMBEDDER]
    stores[_STORE] = f"{StoreBridge.__module__}.{StoreBridge.__qualname__}"
    embedders[_EMBEDDER] = f"{EmbedderBridge.__module__}.{EmbedderBridge.__qualname__}"
    try:
        yield
    finally:
        stores[_STORE], embedders[_EMBEDDER] = before


@contextmanager
def refusals(part: str, provider: Provider) -> Iterator[None]:
    """What a provider raises as it is constructed, as a sentence without its text, which may hold a key."""
    try:
        yield
    except ImportError as error:
        raise BadSettingError(
            f"{SETTING}: the {part} provider {provider.name} needs a Python package that is not installed."
        ) from error
    except Exception as error:  # noqa: BLE001 (each provider raises what it likes)
        raise BadSettingError(
            f"{SETTING}: the {part} provider {provider.name} refuses its configuration ({type(error).__name__}): "
            f"look at the names in {part}.config, its api_key and its addresses."
        ) from None
