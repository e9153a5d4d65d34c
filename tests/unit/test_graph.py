"""What memories name together, computed from them."""

from __future__ import annotations

import pytest

from shared.graph import MOST_NAMED, Graph, relations
from shared.named import Named, naming
from shared.records import Memory


def memory(memory_id: str, *names: str, application: str = "app:a") -> Memory:
    return Memory(memory_id, {"agent_id": application, **naming([Named(name, "proper") for name in names])})


def graph(*memories: Memory, person: str = "p1") -> Graph:
    found = Graph(person)
    for one in memories:
        found.take(one, one.id)
    return found


def test_an_entity_is_one_node_however_it_is_written():
    found = graph(memory("1", "Alice", "Berlin"), memory("2", "ALICE", "alice"))

    assert [node["name"] for node in found.nodes] == ["Alice", "Berlin"]


def test_two_entities_of_one_memory_are_related_by_the_memories_that_name_both():
    found = graph(memory("1", "Alice", "Berlin"), memory("2", "Berlin", "Alice"), memory("3", "Alice"))

    ids = {node["id"] for node in found.nodes}
    (link,) = found.relationships
    assert {link["source"], link["target"]} == ids
    assert (link["type"], link["count"], link["memories"]) == ("MENTIONED_WITH", 2, ["1", "2"])


def test_an_entity_of_one_application_is_not_anothers():
    found = graph(memory("1", "Alice"), memory("2", "Alice", application="app:b"))

    assert [(node["name"], node["agentRef"]) for node in found.nodes] == [("Alice", "a"), ("Alice", "b")]
    assert found.nodes[0]["id"] != found.nodes[1]["id"]


def test_ids_are_the_same_each_time_and_tell_nothing_of_other_people():
    one, again = graph(memory("1", "Alice", "Bob")), graph(memory("1", "Bob", "Alice"))
    other = graph(memory("1", "Alice", "Bob"), person="p2")

    assert {n["id"] for n in one.nodes} == {n["id"] for n in again.nodes}
    assert one.relationships == again.relationships
    assert not {n["id"] for n in one.nodes} & {n["id"] for n in other.nodes}


def test_a_very_large_memory_has_a_bounded_graph():
    many = [memory(str(n), *(f"{n}-{i}" for i in range(20))) for n in range(1000)]
    found = graph(*many)

    assert len(found.nodes) == 2000
    assert len(found.relationships) == 250 * MOST_NAMED * (MOST_NAMED - 1) // 2
    same = graph(*(memory(str(n), "Alice", "Bob") for n in range(100)))
    assert same.relationships[0]["count"] == 100
    assert len(same.relationships[0]["memories"]) == 20


@pytest.mark.parametrize(
    "told", [None, "x", 7, {"name": "Alice"}, [None, 3, "Alice", {}, {"name": 1, "type": "x"}, {"name": "Alice"}]]
)
def test_whatever_a_stock_client_wrote_there_is_no_entity(told):
    assert Memory("1", {"named_entities": told}).named == []


def test_relations_are_named_once_each():
    found = relations([memory("1", "Bob", "Alice"), memory("2", "alice", "BOB"), memory("3", "Alice")])

    assert found == [{"source": "Alice", "relationship": "MENTIONED_WITH", "target": "Bob"}]
