"""Web addresses as an operator names them: a service's, and the origins of pages."""

from __future__ import annotations

from urllib.parse import urlsplit


def origins_of(setting: str) -> frozenset[str]:
    """The origins in a comma-separated setting, `https://app.example` each. Raises ValueError; `*` is none."""
    found = frozenset(part.strip().rstrip("/").lower() for part in setting.split(",") if part.strip())
    for origin in found:
        parts = urlsplit(origin)
        if parts.scheme not in {"http", "https"} or not parts.hostname or origin != f"{parts.scheme}://{parts.netloc}":
            raise ValueError("an origin is written as https://app.example, several are separated by commas")
    return found


def service_address(setting: str) -> str:
    """The address of a service, http or https, without the last slash. Raises ValueError.

    A user name or a password has no place in it: credentials are settings of their own.
    """
    address = setting.strip().rstrip("/")
    parts = urlsplit(address)
    usable = parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc and not parts.fragment
    if not usable or any(c.isspace() or not c.isprintable() for c in address):
        raise ValueError("an address is written as https://service.example, without a user name")
    return address
