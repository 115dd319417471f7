"""Capitalize quoted words within a report."""


def capitalize_first(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]
