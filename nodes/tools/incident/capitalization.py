"""Words of others within a report's own."""


def capitalize_first(text: str) -> str:
    """Begin with a capital letter."""
    return text[:1].upper() + text[1:]
