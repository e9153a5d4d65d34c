"""The typed keys of what the platform keeps on its application."""

from __future__ import annotations

from aiohttp import web

from shared.administration import Administration
from shared.shares import Shares

SHARES: web.AppKey[Shares] = web.AppKey("shares", Shares)
ADMINISTRATION: web.AppKey[Administration] = web.AppKey("administration", Administration)
