"""Dates in FHIR: a year, a month, a day, or a time with its zone."""

import calendar
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from nodes.limits.patterns import Pattern

_PARTIAL_DATE = Pattern(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")


@dataclass(frozen=True)
class FhirDate:
    """A date, and the interval of time it may mean."""

    text: str
    """As written in the resource."""
    earliest: datetime
    latest: datetime

    @property
    def day(self) -> str:
        """Return the date without the time."""
        return self.text[:10]

    def is_before(self, other: "FhirDate") -> bool:
        """Return whether this is certainly earlier; a month is not before one of its days."""
        return self.latest < other.earliest

    def may_be_within(self, since: date | None, until: date | None) -> bool:
        """Return whether the date may lie between two days, both included."""
        is_late = since is None or self.latest.date() >= since
        return is_late and (until is None or self.earliest.date() <= until)


def parse_date(text: str) -> FhirDate | None:
    """Parse a FHIR date, dateTime or instant; None if there is none, or the date does not exist."""
    try:
        if partial := _PARTIAL_DATE.fullmatch(text):
            return _parse_partial_date(text, *partial.groups())
        exact = datetime.fromisoformat(text)
    except ValueError:
        return None
    if exact.tzinfo is None:
        exact = exact.replace(tzinfo=UTC)
    return FhirDate(text, exact, exact)


def format_day(text: str) -> str:
    """Return the day of a FHIR date; empty if there is none or it does not exist."""
    found = parse_date(text)
    return found.day if found else ""


def _parse_partial_date(text: str, year: str, month: str | None, day: str | None) -> FhirDate:
    """Return the whole year, month or day; a day has no time zone, so it is read as UTC."""
    last_month = int(month or 12)
    last_day = int(day or calendar.monthrange(int(year), last_month)[1])
    first = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
    end = datetime(int(year), last_month, last_day, tzinfo=UTC)
    return FhirDate(text, first, end + timedelta(days=1, microseconds=-1))
