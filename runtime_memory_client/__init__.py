"""What applications remember of a person: list, learn, search, recall, correct, share and forget; over aiohttp, typed.

The same names as the TypeScript client's, in snake case: functions take the token first and the address of the platform
last; `AgentRuntimesClient` has them as methods, and everything else that both services do.
"""

from runtime_memory_client.client import AgentRuntimesClient
from runtime_memory_client.errors import NetworkError, RunResponseError, TokenExpiredError
from runtime_memory_client.runtimes import (
    DEFAULT_BASE_URL,
    allow_runtime_memory_share,
    correct_runtime_memory,
    forget_runtime_memories,
    forget_runtime_memory,
    get_runtime_memory,
    list_runtime_memories,
    list_runtime_memory_shares,
    stop_runtime_memory_share,
)

__all__ = [
    "DEFAULT_BASE_URL",
    "AgentRuntimesClient",
    "NetworkError",
    "RunResponseError",
    "TokenExpiredError",
    "allow_runtime_memory_share",
    "correct_runtime_memory",
    "forget_runtime_memories",
    "forget_runtime_memory",
    "get_runtime_memory",
    "list_runtime_memories",
    "list_runtime_memory_shares",
    "stop_runtime_memory_share",
]
