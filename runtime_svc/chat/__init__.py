"""Memory in conversations: an OpenAI-compatible door that recalls before the provider is asked, and learns after."""
