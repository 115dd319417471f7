"""Find the headings of clauses, and of contracts without numbers."""

from nodes.limits.patterns import Pattern

MAX_HEADING_CHARS = 110
_SMALL_WORDS = r"of|and|or|the|to|for|in|on|by|with|a|an|as|at|upon|from|under|not|&|/|-"
_HEADING_WORD = rf"(?:[A-Z0-9\"'(][\w'&/.()\"-]*,?|{_SMALL_WORDS})"
_FIRST_WORD = r"[A-Z\"'](?:[\w'&/()\"-]|\.(?=\w))*,?"
_HEADING = Pattern(
    rf"^(?P<name>\[[^\]\n]{{3,60}}\]|{_FIRST_WORD}(?:[ ]{{1,2}}{_HEADING_WORD}){{0,11}}?)"
    r"(?P<end>[ ]?[.:](?=\s|$)|[ ]+-+[ ]|-{2,}|[ ]{3,}|[ ]*(?:\n\s*+(?![a-z])|$)"
    r"|[ ]+(?=\(?[aA1i]\)[ ]))"
)
_ABBREVIATED = Pattern(r"\b(?:Inc|Corp|Ltd|Co|LLC|No|Mr|Ms|Dr|[A-Z])$")


def match_heading(text: str, at: int) -> tuple[str, int]:
    """Return the heading at an offset, and where the clause continues; empty if there is none."""
    found = _HEADING.match(text[at : at + MAX_HEADING_CHARS])
    if not found or (found.end() == MAX_HEADING_CHARS and not found["end"]):
        return "", at
    name = found["name"].strip(" ,")
    if found["end"].lstrip().startswith(".") and _ABBREVIATED.search(name):
        return "", at
    return " ".join(name.split()).strip("\"'*_ "), at + found.end()


def is_heading_line(line: str) -> bool:
    """Return whether this is a heading without a number on a line of its own."""
    bare = line.strip().lstrip("#*_ ").rstrip(":*_ ")
    if line.lstrip().startswith("#"):
        return bool(bare)
    words = Pattern(r"[A-Za-z][\w'-]*").findall(bare)
    if not words or len(words) > 9 or len(bare) > 80 or bare.endswith((".", ",", ";")):
        return False
    if Pattern(r"[_=|]{2}|/s/").search(bare):
        return False
    small = Pattern(rf"(?:{_SMALL_WORDS})$")
    return bare.isupper() or all(word[0].isupper() or small.match(word) for word in words)
