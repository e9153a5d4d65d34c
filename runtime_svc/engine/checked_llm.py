"""mem0's LLM with our time-out, no hidden retries, and an answer that is read before mem0 reads it."""

from __future__ import annotations

import json
from typing import Any

from runtime_svc.engine.answer import read_answer
from runtime_svc.engine.failures import learn_failed
from runtime_svc.engine.store_bridge import current


class CheckedLlm:
    """Wraps one of mem0's LLMs. A failure is kept in the turn, for mem0 wraps it in an error of its own."""

    def __init__(self, llm: Any, *, seconds: float) -> None:
        self._llm = llm
        if hasattr(llm, "client"):
            llm.client = bounded(llm.client, seconds)

    def generate_response(self, messages: list[dict[str, str]], **options: Any) -> str:
        """The facts of the answer, in the one form that mem0 reads without loss. Raises LearnFailed."""
        turn = current()
        try:
            answer = read_answer(self._llm.generate_response(messages=messages, **options))
        except Exception as error:  # noqa: BLE001 (any provider's client raises what it likes)
            turn.fail(learn_failed(error), error)
        turn.left_out = answer.left_out
        facts = [
            {"id": str(number), "text": fact.words, "attributed_to": fact.attributed_to}
            for number, fact in enumerate(answer.facts)
        ]
        return json.dumps({"memory": facts})


def bounded(client: Any, seconds: float) -> Any:
    """A provider's client with our time-out and without retries of its own, which last minutes by default."""
    if hasattr(client, "with_options"):  # openai, anthropic, groq, together and their kin
        return client.with_options(timeout=seconds, max_retries=0)
    transport = getattr(client, "_client", None)  # ollama: an httpx client without any time-out
    if transport is not None and hasattr(transport, "timeout"):
        transport.timeout = seconds
    return client
