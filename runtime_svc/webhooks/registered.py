"""A webhook as it is registered, and what it is told."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from shared.client_records import ClientRecord
from shared.errors import BadValue
from shared.stores.outbox import Tell

MOST = 20
"""How many one person may have: each is a request for every change."""

EVENTS = tuple(Tell)
_LONGEST_URL = 2_000
_NAT64, _PUBLIC = ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("2000::/3")


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where a program is told, of which changes, and the secret that signs what it is told."""

    id: str
    url: str
    events: Sequence[str]
    application: str | None
    """The one application it is told of: that of the key which registered it."""
    secret: str


def webhook_of(record: ClientRecord) -> Webhook:
    """A kept one."""
    said = record.body
    return Webhook(record.id, said["url"], said["event_types"], said["application"], said["secret"])


def new_body(name: str, url: str, events: Sequence[str], application: str | None, *, private: bool) -> dict[str, Any]:
    """What is kept of a new one, with a new secret. Raises BadValue."""
    return {
        "name": name,
        "url": checked_url(url, private=private),
        "event_types": checked_events(events),
        "application": application,
        "secret": secrets.token_urlsafe(32),
    }


def checked_events(events: Sequence[str]) -> list[str]:
    """Raises BadValue for none, and for what is no event."""
    if not events or set(events) - set(EVENTS):
        raise BadValue(f"event_types has at least one of {', '.join(EVENTS)}.")
    return list(dict.fromkeys(events))


def checked_url(url: str, *, private: bool) -> str:
    """Raises BadValue for what is no web address, or plainly names this machine or its network."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", urlsplit("")
    if parts.scheme not in {"http", "https"} or not host or parts.username or len(url) > _LONGEST_URL:
        raise BadValue("url is a web address that starts with https:// or http://, without a user name.")
    if not private and not may_reach(host):
        raise BadValue("url names an address that is not public.")
    return url


def may_reach(host: str) -> bool:
    """Whether a host, where it is an address, is a public one. Names are judged again by what they resolve to."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host.rstrip(".").lower() != "localhost"
    meant = address if isinstance(address, ipaddress.IPv4Address) else _meant(address)
    return meant is not None and meant.is_global and not meant.is_multicast


def _meant(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Where packets go in the end: a gateway may take those for some addresses to an IPv4 address that stands in them.

    None for all that is not handed out to the public, whatever a network does with it.
    """
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    inside = address.ipv4_mapped or address.sixtofour
    if inside is not None:
        return inside
    return address if address in _PUBLIC else None


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 over the time and the body: a receiver that checks both takes no replayed or changed message."""
    return "sha256=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def shown(record: ClientRecord, project: str, *, with_secret: bool = False) -> dict[str, Any]:
    """A webhook for its owner; the secret in the answer to its making only."""
    said: Mapping[str, Any] = record.body
    view = {
        "webhook_id": record.id,
        "id": record.id,
        "name": said["name"],
        "url": said["url"],
        "event_types": said["event_types"],
        "project": project,
        "is_active": True,
        "owner": None,
        "created_at": record.created_at.isoformat(),
        "updated_at": record.updated_at.isoformat(),
    }
    return {**view, "secret": said["secret"]} if with_secret else view
