"""The platform service: a person reads, corrects, shares and forgets, whether or not a runtime runs."""
