"""The local engine: SQLite on disk, a FAISS index for each scope in memory."""
