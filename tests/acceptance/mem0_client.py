"""Run by the Python of a released mem0ai: drives every public method of its client; the last line is JSON.

Arguments: the key, the host, `sync` or `async`. Nothing of ours is imported: the client is as its users have it.
"""

# ruff: noqa: T201, BLE001, TRY300, FBT003 - a script that reports what a client does, whatever that is
import asyncio
import inspect
import json
import os
import sys
import tempfile
import time
from importlib.metadata import version

os.environ["MEM0_TELEMETRY"] = "False"
os.environ["MEM0_DIR"] = tempfile.mkdtemp(prefix="mem0-client-")

import mem0

KEY, HOST, MODE = sys.argv[1:4]
VERSION = tuple(int(part) for part in version("mem0ai").split("."))
MODERN, OLD, OLDEST = VERSION >= (2,), VERSION < (1,), VERSION < (0, 1, 100)
ME = "ana"
ABSENT = "7d4e1f6a-0000-4000-8000-000000000001"

runner = asyncio.Runner()
results = {}


def call(method, *args, **kwargs):
    found = method(*args, **kwargs)

    async def wait():
        return await found

    return runner.run(wait()) if inspect.isawaitable(found) else found


def step(name, function):
    try:
        value = function()
        results[name] = "ok"
        return value
    except Exception as error:
        results[name] = f"{type(error).__name__}: {str(error)[:150]}"
        return None


def refused(name, function, *kinds):
    try:
        function()
        results[name] = "answered, where a refusal was expected"
    except Exception as error:
        results[name] = "refused" if type(error).__name__ in kinds else f"{type(error).__name__}: {str(error)[:150]}"


def listed(found):
    return found if isinstance(found, list) else found["results"]


def same(found, wanted):
    assert found == wanted, f"{found!r} is not {wanted!r}"
    return found


client = step(
    "constructor", lambda: (mem0.MemoryClient if MODE == "sync" else mem0.AsyncMemoryClient)(api_key=KEY, host=HOST)
)
if client is None:
    print(json.dumps(results))
    raise SystemExit(0)


def add(words, **more):
    return listed(call(client.add, [{"role": "user", "content": words}], user_id=ME, infer=False, **more))[0]


def search(query, **filters):
    if MODERN:
        return call(client.search, query, filters=filters)
    if OLD:
        return call(
            client.search, query, version="v2", filters={"AND": [{name: value} for name, value in filters.items()]}
        )
    return call(client.search, query, filters={"AND": [{name: value} for name, value in filters.items()]})


def get_all(**filters):
    if MODERN or not OLD:
        return call(client.get_all, filters={"AND": [{name: value} for name, value in filters.items()]})
    return call(client.get_all, version="v2", filters={"AND": [{name: value} for name, value in filters.items()]})


def update(memory_id, text):
    return call(client.update, memory_id, text) if OLDEST else call(client.update, memory_id, text=text)


def queued():
    call(client.add, "My sister is called Vera", user_id=ME, run_id="r1")
    for _ in range(600):
        if len(listed(get_all(user_id=ME))) == 2:
            return
        time.sleep(0.1)
    raise AssertionError("what was queued was not learned")


item = step("add", lambda: add("I love hiking in the mountains", metadata={"source": "chat"}))
memory_id = (item or {}).get("id", ABSENT)
step("add, queued", queued)
step(
    "search", lambda: same(listed(search("outdoor hobbies", user_id=ME))[0]["memory"], "I love hiking in the mountains")
)
if OLD:
    step("search, v1", lambda: same(listed(call(client.search, "outdoor hobbies", user_id=ME))[0]["id"], memory_id))
    step("get_all, v1", lambda: same(len(listed(call(client.get_all, user_id=ME))), 2))
    step("get_all, v1 paged", lambda: same(len(listed(call(client.get_all, user_id=ME, page=2, page_size=1))), 1))
elif not MODERN:
    step(
        "search, ids beside",
        lambda: same(listed(call(client.search, "outdoor hobbies", user_id=ME))[0]["id"], memory_id),
    )
step("get_all", lambda: same({one["run_id"] for one in listed(get_all(user_id=ME))}, {None, "r1"}))
step("get_all, filtered", lambda: same(len(listed(get_all(user_id=ME, metadata={"source": "chat"}))), 1))
step("get_all, user and agent", lambda: same(listed(get_all(user_id=ME, agent_id="bot")), []))
if not OLDEST:
    more = (
        {"filters": {"AND": [{"user_id": ME}]}} if not OLD else {"version": "v2", "filters": {"AND": [{"user_id": ME}]}}
    )
    step("get_all, paged", lambda: same(len(listed(call(client.get_all, page=1, page_size=1, **more))), 1))
step("get", lambda: same(call(client.get, memory_id)["metadata"], {"source": "chat"}))
step("update", lambda: update(memory_id, "I love cycling"))
step("get, updated", lambda: same(call(client.get, memory_id)["memory"], "I love cycling"))
step("history", lambda: same(call(client.history, memory_id)[-1]["new_memory"], "I love cycling"))
step("users", lambda: same({"user", "app", "run"} <= {one["type"] for one in call(client.users)["results"]}, True))
kinds = ("APIError", "MemoryNotFoundError", "HTTPStatusError")
refused("get, unknown", lambda: call(client.get, ABSENT), *kinds)
refused("get_all, another's", lambda: get_all(user_id="victim"), "APIError", "AuthenticationError", "HTTPStatusError")
if not OLDEST:
    step(
        "batch_update",
        lambda: same(
            "1" in call(client.batch_update, [{"memory_id": memory_id, "text": "I love rowing"}])["message"], True
        ),
    )
    schema = {"type": "object", "properties": {"likes": {"type": "array"}}}
    export = step(
        "create_memory_export",
        lambda: call(client.create_memory_export, schema=json.dumps(schema), filters={"AND": [{"user_id": ME}]}),
    )
    step(
        "get_memory_export",
        lambda: same("I love rowing" in call(client.get_memory_export, memory_export_id=export["id"])["likes"], True),
    )
    step(
        "get_summary",
        lambda: same("rowing" in call(client.get_summary, filters={"AND": [{"user_id": ME}]})["summary"], True),
    )
    step(
        "project.update",
        lambda: call(
            client.project.update, custom_instructions="Only sports.", custom_categories=[{"sports": "what they play"}]
        ),
    )
    step(
        "project.get",
        lambda: same(call(client.project.get, fields=["custom_instructions"])["custom_instructions"], "Only sports."),
    )
    refused("project.create", lambda: call(client.project.create, "other"), *kinds)
    refused("project.delete", lambda: call(client.project.delete), "AuthenticationError", *kinds)
    refused("project.get_members", lambda: call(client.project.get_members), *kinds)
    step("get_project", lambda: call(client.get_project))
    step("update_project", lambda: call(client.update_project, custom_instructions="Only sports."))
    project = client.project.project_id
    hook = step(
        "create_webhook",
        lambda: call(
            client.create_webhook,
            url="https://example.com/hook",
            name="hook",
            project_id=project,
            event_types=["memory_add"],
        ),
    )
    step("get_webhooks", lambda: same([one["name"] for one in call(client.get_webhooks, project_id=project)], ["hook"]))
    step("update_webhook", lambda: call(client.update_webhook, webhook_id=hook["webhook_id"], name="better"))
    step("delete_webhook", lambda: call(client.delete_webhook, webhook_id=hook["webhook_id"]))
    step("feedback", lambda: call(client.feedback, memory_id=memory_id, feedback="POSITIVE"))
    if MODERN:
        refused("get_profile", lambda: call(client.get_profile, ME), *kinds)
        refused("get_profile_settings", lambda: call(client.get_profile_settings), *kinds)
    # The client's own fault: the request arrives and is answered, then its telemetry is called wrongly.
    elif results["feedback"].startswith("TypeError"):
        results["feedback"] = "ok (and the client then fails on its own)"
step("delete", lambda: call(client.delete, memory_id))
refused("get, deleted", lambda: call(client.get, memory_id), *kinds)
if not OLDEST:
    other = step("add, for a batch", lambda: add("I love figs"))
    step("batch_delete", lambda: same("1" in call(client.batch_delete, [{"memory_id": other["id"]}])["message"], True))
step("delete_all", lambda: call(client.delete_all, user_id=ME))
step("get_all, emptied", lambda: same(listed(get_all(user_id=ME)), []))
add("I love tea", run_id="r/2")
if OLDEST:
    step("delete_users", lambda: call(client.delete_users))
else:
    step("delete_users", lambda: call(client.delete_users, run_id="r/2"))
add("I love jam")
step("reset", lambda: call(client.reset))
step("users, emptied", lambda: same(call(client.users)["results"], []))
print(json.dumps(results))
