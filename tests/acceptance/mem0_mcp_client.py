"""Run by the Python of a released mem0-mcp-server: calls its tools as an MCP client does; the last line is JSON."""

# ruff: noqa: T201 - a script that reports
import asyncio
import functools
import json
import sys

import mem0_mcp_server.server as released
from mcp.shared.memory import create_connected_server_and_client_session

KEY, HOST = sys.argv[1:3]
# It takes no host: the address is the one thing that is changed.
released.MemoryClient = functools.partial(released.MemoryClient, host=HOST)


async def main() -> None:
    server = released.create_server()
    server = getattr(server, "_fastmcp", server)
    async with create_connected_server_and_client_session(server._mcp_server) as session:

        async def call(tool, **arguments):
            result = await session.call_tool(tool, arguments)
            assert not result.isError, result
            found = json.loads(result.content[0].text)
            assert not (isinstance(found, dict) and found.get("error")), found
            return found

        await call("add_memory", text="I love hiking in the mountains", user_id="ana")
        for _ in range(600):
            if (found := await call("get_memories", filters={"AND": [{"user_id": "ana"}]}))["results"]:
                break
            await asyncio.sleep(0.1)
        memory_id = found["results"][0]["id"]
        hits = await call("search_memories", query="outdoor hobbies", filters={"OR": [{"user_id": "ana"}]}, limit=3)
        await call("update_memory", memory_id=memory_id, text="I love cycling")
        got = await call("get_memory", memory_id=memory_id)
        entities = await call("list_entities")
        await call("delete_memory", memory_id=memory_id)
        await call("delete_all_memories", user_id="ana")
        kinds = sorted({one["type"] for one in entities["results"]})
        print(json.dumps({"found": hits["results"][0]["memory"], "updated": got["memory"], "kinds": kinds}))


asyncio.run(main())
