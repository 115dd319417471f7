"""Parse and format times as logs write them."""

from datetime import UTC, datetime

from nodes.limits.patterns import Pattern

_EPOCH = Pattern(r"1\d{9}(?:\d{3})?(?:\.\d+)?")
_COMMON_LOG = "%d/%b/%Y:%H:%M:%S %z"
_TIMESTAMP = Pattern(
    r"^\W?(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)"
)


def parse_time(text: str) -> datetime | None:
    """Parse a time; one without a zone is UTC, a bare number is seconds since 1970."""
    text = text.strip().strip("[]")
    if _EPOCH.fullmatch(text):
        seconds = float(text) / (1000 if len(text.split(".")[0]) == 13 else 1)
        return datetime.fromtimestamp(seconds, UTC)
    try:
        found = datetime.fromisoformat(text.replace(",", "."))
    except ValueError:
        try:
            found = datetime.strptime(text, _COMMON_LOG)
        except ValueError:
            return None
    try:
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except OverflowError:
        return None


def split_timestamp(line: str) -> tuple[datetime | None, str]:
    """Split the time at the beginning of a line from the rest of it."""
    found = _TIMESTAMP.match(line)
    if not found:
        return None, line
    return parse_time(found["time"]), line[found.end() :].lstrip("] \t")


def format_time(when: datetime) -> str:
    """Return a time to the second, with its date."""
    return when.strftime("%Y-%m-%d %H:%M:%S UTC")
