"""Compute the time between two log lines, whose notation stays unchanged."""

from datetime import datetime

from dateutil.parser import parse  # type: ignore[import-untyped]

from nodes.limits.patterns import Pattern

_APACHE_DATE = Pattern(r"^(\d{1,2}/[A-Z][a-z]{2}/\d{4}):")


def format_time_between(first: str, last: str) -> str:
    """Return the duration between two times in words; empty if it cannot be determined."""
    begun, ended = _parse_time(first), _parse_time(last)
    if begun is None or ended is None or (begun.tzinfo is None) != (ended.tzinfo is None):
        return ""
    seconds = (ended - begun).total_seconds()
    if seconds < 0:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "min"), (rest, "s"))
    return " ".join(f"{amount} {unit}" for amount, unit in parts if amount) or "under 1 s"


def _parse_time(stamp: str) -> datetime | None:
    try:
        found: datetime = parse(_APACHE_DATE.sub(r"\1 ", stamp).replace(",", "."))
    except (ValueError, OverflowError):
        return None
    return found
