"""The aiohttp edge of both services: errors, authentication, bodies, health. No use case, no SQL."""
