"""Dates in FHIR: a year, a month, a day, or a time with its zone."""

from dataclasses import dataclass
from datetime import UTC, date, datetime

from dateutil.parser import isoparse  # type: ignore[import-untyped]
from dateutil.relativedelta import relativedelta  # type: ignore[import-untyped]


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
    """Parse a FHIR date, dateTime or instant; None if there is none, or the date does not exist.

    A year, month or day is all of its time; it has no time zone, so it is read as UTC.
    """
    unit = {4: "years", 7: "months", 10: "days"}.get(len(text))
    try:
        first = isoparse(text)
        first = first if first.tzinfo else first.replace(tzinfo=UTC)
        last = first + relativedelta(**{unit: 1}, microseconds=-1) if unit else first
    except (ValueError, OverflowError):
        return None
    return FhirDate(text, first, last)


def format_day(text: str) -> str:
    """Return the day of a FHIR date; empty if there is none or it does not exist."""
    found = parse_date(text)
    return found.day if found else ""
