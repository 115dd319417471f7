"""Dates as FHIR has them: a year, a month, a day, or a time with its zone."""

import calendar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from nodes.limits.patterns import Pattern

_PARTIAL = Pattern(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")


@dataclass(frozen=True)
class Moment:
    """A date, and the stretch of time it may mean."""

    text: str
    """As the resource has it."""
    first: datetime
    last: datetime

    @property
    def day(self) -> str:
        """Give the date without the time."""
        return self.text[:10]

    def is_before(self, other: "Moment") -> bool:
        """Say whether this is certainly earlier; a month is not before one of its days."""
        return self.last < other.first


def moment(text: str) -> Moment | None:
    """Read a FHIR date, dateTime or instant; None when there is none, or none that exists."""
    try:
        if partial := _PARTIAL.fullmatch(text):
            return _partial(text, *partial.groups())
        exact = datetime.fromisoformat(text)
    except ValueError:
        return None
    if exact.tzinfo is None:
        exact = exact.replace(tzinfo=UTC)
    return Moment(text, exact, exact)


def day(text: str) -> str:
    """Give the day of a FHIR date; empty where there is none that exists."""
    found = moment(text)
    return found.day if found else ""


def _partial(text: str, year: str, month: str | None, day: str | None) -> Moment:
    """Take all of a year, month or day; a day has no zone, so it is read as in Greenwich."""
    last_month = int(month or 12)
    last_day = int(day or calendar.monthrange(int(year), last_month)[1])
    first = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
    end = datetime(int(year), last_month, last_day, tzinfo=UTC)
    return Moment(text, first, end + timedelta(days=1, microseconds=-1))
