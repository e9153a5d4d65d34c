"""The memory API of one runtime: it learns through mem0, recalls, lists, corrects and forgets."""
