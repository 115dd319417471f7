"""Counts with their nouns."""


def format_count(number: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun: 1 value, 2 values."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
