"""A cluster for tests: PostgreSQL, Redis and instances of Aegra on this machine."""
