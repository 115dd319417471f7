"""The databases that runs are kept in: SQLite by default, PostgreSQL by its address."""
