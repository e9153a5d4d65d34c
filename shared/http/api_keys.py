"""A person's API keys: made, listed and revoked by the person, signed in with a token."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from shared.api_keys import ApiKey, digest_of, is_id, new_key
from shared.errors import BadValue, NotAllowed, NotFound
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import API_KEYS, CALLER
from shared.scope import PREFIX, Everything, application_key, application_of
from shared.times import moment
from shared.tokens import Person


class NewKey(body.Body):
    """What a key is for, and which applications it reaches: one, or in so many words all of the owner's."""

    name: str = "API key"
    application: str | None = None
    all_applications: bool = False
    expires_at: str | None = None


def owner(request: web.Request) -> str:
    """The person, by a token of their own: a key makes and reads no keys. Raises NotAllowed."""
    caller = request[CALLER]
    if not isinstance(caller, Person) or caller.via == "key":
        raise NotAllowed("Keys are made, listed and revoked by a person who is signed in, not by a key or a machine.")
    return caller.uid


def shown(key: ApiKey) -> dict[str, Any]:
    """A key without its secret."""
    return {
        "id": key.id,
        "name": key.name,
        "prefix": f"rmk_{key.id}",
        "application": key.application,
        "all_applications": key.application is None,
        "scopes": sorted(key.scopes),
        "created_at": key.created_at.isoformat(),
        "expires_at": None if key.expires_at is None else key.expires_at.isoformat(),
        "last_used_at": None if key.last_used_at is None else key.last_used_at.isoformat(),
    }


async def create_key(request: web.Request) -> web.Response:
    """A new key; its text is in this answer and nowhere else, ever."""
    said = await body.read(request, NewKey)
    if (said.application is None) == (not said.all_applications):
        raise BadValue("A key is for one application, or with all_applications: true for all of yours.")
    expires_at = None if said.expires_at is None else moment(said.expires_at)
    key, text = new_key(owner(request), said.name, application=_application(said.application), expires_at=expires_at)
    await request.app[API_KEYS].keep(key, digest_of(text))
    return answer({"success": True, **shown(key), "key": text}, status=201)


async def list_keys(request: web.Request) -> web.Response:
    """The caller's keys, oldest first, without their secrets."""
    keys = [shown(key) for key in await request.app[API_KEYS].of(Everything(owner(request)))]
    return answer({"success": True, "count": len(keys), "keys": keys})


async def revoke_key(request: web.Request) -> web.Response:
    """End one of the caller's, at once."""
    person, key_id = Everything(owner(request)), request.match_info["key_id"]
    if not is_id(key_id) or not await request.app[API_KEYS].revoke(person, key_id):
        raise NotFound("There is no key by that id.")
    return answer({"success": True, "revoked": 1})


def _application(named: str | None) -> str | None:
    """By its key or by its bare uid."""
    if named is None:
        return None
    return application_key(named) if named.startswith(PREFIX) else application_of(named)
