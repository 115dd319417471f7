"""Find, parse and format times as logs write them.

Formats are listed rather than guessed: a parser that guesses takes `12` for a day.
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from nodes.limits.patterns import Pattern

YEARLESS: Final = 1904
"""The year of a time that is logged without one; a leap year."""

TIMESTAMP: Final = Pattern(
    r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?: [+-]\d{4})?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: \d{4}\b)?"
    r"|\d\d/\d\d/\d\d \d\d:\d\d:\d\d"
    r"|^\d{6} \d{6}\b|^\[?1\d{9}(?:\.\d{1,9}|\d{3})?(?=[\] ])"
)
_EPOCH = Pattern(r"1\d{9}(?:\d{3})?(?:\.\d+)?")
_FORMATS: Final = (
    "%d/%b/%Y:%H:%M:%S %z",
    "%d/%b/%Y:%H:%M:%S",
    "%b %d %H:%M:%S %Y",
    "%y%m%d %H%M%S",
    "%y/%m/%d %H:%M:%S",
    "%b %d %H:%M:%S",
)


@lru_cache(maxsize=4096)
def parse_time(text: str) -> datetime | None:
    """Parse a time; one without a zone is UTC, a bare number is seconds since 1970."""
    text = text.strip().strip("[]")
    if _EPOCH.fullmatch(text):
        seconds = float(text) / (1000 if len(text.split(".")[0]) == 13 else 1)
        return datetime.fromtimestamp(seconds, UTC)
    for form in ("ISO", *_FORMATS):
        try:
            found = _parse_iso(text) if form == "ISO" else _parse_as(text, form)
            return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            continue
    return None


def _parse_iso(text: str) -> datetime:
    if len(text) < len("2026-01-31") or not text[:4].isdigit():
        raise ValueError("no date")
    return datetime.fromisoformat(text[:10].replace("/", "-") + text[10:].replace(",", "."))


def _parse_as(text: str, form: str) -> datetime:
    """Parse a time in a form; the year of one that has none is `YEARLESS`."""
    is_dated = "%y" in form.lower()
    return datetime.strptime(
        text if is_dated else f"{YEARLESS} {text}", form if is_dated else f"%Y {form}"
    )


def format_time(when: datetime) -> str:
    """Return a time to the second, with its date; without a year if the log has none."""
    return when.strftime("%b %d %H:%M:%S" if when.year == YEARLESS else "%Y-%m-%d %H:%M:%S UTC")


def format_duration(seconds: float) -> str:
    """Return a duration in hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "min"), (rest, "s"))
    return " ".join(f"{amount} {unit}" for amount, unit in parts if amount) or "under 1 s"
