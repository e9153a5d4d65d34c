"""Webhooks: a person's program is told when what is remembered of them changes."""
