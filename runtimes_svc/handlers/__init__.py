"""One module a resource: read the request, call one use case, answer."""
