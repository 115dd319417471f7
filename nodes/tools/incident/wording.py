"""Words of others within a report's own."""


def code(text: str) -> str:
    """Set text apart as it stands, so that no link or picture in it comes to life."""
    return f"`{text.replace('`', chr(39))}`"


def sentence(text: str) -> str:
    """Begin with a capital letter."""
    return text[:1].upper() + text[1:]
