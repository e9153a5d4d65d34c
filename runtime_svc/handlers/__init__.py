"""One module a dialect: read the request, call one use case, answer."""
