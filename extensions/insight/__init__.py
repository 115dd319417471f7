"""What a run will cost, what it can never do, why it failed, and whether a team is worth it."""

from graph.extensions import Extension


class _Insight(Extension):
    pass


EXTENSION = _Insight()
