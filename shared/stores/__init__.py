"""Where memories are kept: the ports, and one package for each engine that keeps them."""
