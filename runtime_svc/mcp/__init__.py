"""Memory as Model Context Protocol tools, resources and a prompt. The only place that imports `mcp`."""
