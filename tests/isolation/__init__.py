"""Nobody ever sees, counts, changes or forgets another's: both services driven at random against a tiny model."""
