"""The origins of web pages, as an operator names them."""

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
