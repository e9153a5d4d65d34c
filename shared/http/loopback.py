"""Whether a request without a credential comes from this machine itself, and from no web page."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

_FORWARDED = frozenset({"forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip"})
_NAMES = frozenset({"localhost", "localhost."})


def from_this_machine(headers: Mapping[str, str], peer: str | None) -> bool:
    """True for a peer on loopback that asks for a loopback name, through no proxy and from no foreign web page.

    A proxy on this machine makes every visitor a loopback peer, and a browser sends any page's requests to loopback:
    neither is the runtime itself.
    """
    if peer is None or not _loopback(peer):
        return False
    if any(name.lower() in _FORWARDED or name.lower().startswith("x-forwarded") for name in headers):
        return False
    host = headers.get("Host", "")
    # The name guards against a page whose name was pointed at 127.0.0.1 (DNS rebinding).
    return _names_loopback(host) and not _foreign_page(headers, host)


def _loopback(address: str) -> bool:
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return (mapped or ip).is_loopback


def _names_loopback(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    return name in _NAMES or _loopback(name)


def _foreign_page(headers: Mapping[str, str], host: str) -> bool:
    if headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
        return True
    origin = headers.get("Origin")
    return origin is not None and origin.lower() != f"http://{host}".lower()
