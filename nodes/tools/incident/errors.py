"""What a look at an incident's materials ends with when they do not hold enough."""


class InsufficientMaterials(Exception):
    """The materials do not hold what was asked for; the message says what would."""
