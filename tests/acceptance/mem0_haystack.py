"""Run by the Python of a released mem0-haystack: adds and finds through its memory store; the last line is JSON."""

# ruff: noqa: T201 - a script that reports
import json
import sys

from haystack.dataclasses import ChatMessage
from haystack_integrations.memory_stores.mem0 import Mem0MemoryStore
from mem0 import MemoryClient

KEY, HOST = sys.argv[1:3]
store = Mem0MemoryStore()
# It takes no host: the address is the one thing that is changed, on the client that it holds.
store._client = MemoryClient(api_key=KEY, host=HOST)
added = store.add_memories(
    messages=[ChatMessage.from_user("I love hiking in the mountains")], user_id="ana", infer=False
)
found = store.search_memories(query="outdoor hobbies", user_id="ana")
everything = store.search_memories(filters={"field": "user_id", "operator": "==", "value": "ana"})
print(
    json.dumps(
        {"added": [one["memory"] for one in added], "found": [one.text for one in found], "all": len(everything)}
    )
)
