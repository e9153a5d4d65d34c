"""What is learned is sorted into categories by its meaning, and found by them."""

from __future__ import annotations

from tests.acceptance.test_first_slice import APP, learn
from tests.services import Service


async def key_of(runtime: Service) -> dict[str, str]:
    _, said = await runtime.post("/api/v1/apps/api-keys", json={"name": "k", "all_applications": True})
    return {"Authorization": f"Token {said['key']}"}


async def test_memories_are_in_categories_of_the_default_catalogue(runtime: Service) -> None:
    await learn(runtime, "I am vegetarian and avoid gluten", "Plays the cello in an orchestra")

    _, said = await runtime.get(APP)

    assert {m["memory"]: m["categories"][0] for m in said["memories"]} == {
        "I am vegetarian and avoid gluten": "food",
        "Plays the cello in an orchestra": "music",
    }


async def test_a_clients_own_categories_stand_in_their_place_and_filter(runtime: Service) -> None:
    headers = await key_of(runtime)
    own = [{"pets": "dogs, cats and other animals at home"}, {"cars": "cars, driving, garages"}]
    for words in ("My dog is called Rex", "I drive an old Volvo"):
        body = {"messages": words, "user_id": "owner-1", "infer": False, "custom_categories": own}
        status, said = await runtime.post("/v3/memories/add/", json=body, headers=headers, uid=None)
        assert status == 200, said

    filters = {"AND": [{"user_id": "owner-1"}, {"categories": {"contains": "pets"}}]}
    _, said = await runtime.post("/v3/memories/", json={"filters": filters}, headers=headers, uid=None)

    assert [(m["memory"], m["categories"]) for m in said["results"]] == [("My dog is called Rex", ["pets"])]
