"""Settings of the platform service: what both services read, and nothing more so far."""

from __future__ import annotations

from shared.settings import Settings


class PlatformSettings(Settings):
    """What the platform reads."""
