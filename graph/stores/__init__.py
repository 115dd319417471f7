"""The databases that store runs: SQLite by default, PostgreSQL if an address names it."""
