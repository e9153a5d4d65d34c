"""Run by the Python of a released mem0-strands: adds and finds through its memory store; the last line is JSON."""

# ruff: noqa: T201 - a script that reports
import asyncio
import json
import sys
import time

from mem0_strands import Mem0MemoryStore

KEY, HOST = sys.argv[1:3]


async def main() -> None:
    store = Mem0MemoryStore(user_id="ana", api_key=KEY, host=HOST)
    await store.add("I love hiking in the mountains", {"source": "strands"})
    await store.add_messages([{"role": "user", "content": [{"text": "My sister is called Vera"}]}])
    until = time.monotonic() + 60
    while not (vera := [one.content for one in await store.search("Vera")]) and time.monotonic() < until:
        await asyncio.sleep(0.1)
    found = [one.content for one in await store.search("outdoor hobbies")]
    print(json.dumps({"found": found[:1], "vera": vera[:1]}))


asyncio.run(main())
