"""Learning through mem0 and the queue, on real stores, with an OpenAI-compatible server on loopback."""
