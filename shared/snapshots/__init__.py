"""All that is remembered of a person as one thing: saved, shown, exported, taken in again, restored, erased."""
