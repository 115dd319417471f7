"""Read the data types of FHIR from JSON: dates, concepts, quantities, periods."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from dateutil.parser import isoparse  # type: ignore[import-untyped]
from dateutil.relativedelta import relativedelta  # type: ignore[import-untyped]

from nodes.text.plain_text import sanitize_line


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


MAX_TEXT_CHARS = 500
MAX_LABEL_CHARS = 120
MAX_DIGITS = 30
"""Limit for a number written out: an exponent could make it as long as a book."""
CODE_SYSTEMS = {
    "http://loinc.org": "LOINC",
    "http://snomed.info/sct": "SNOMED CT",
    "http://www.nlm.nih.gov/research/umls/rxnorm": "RxNorm",
    "http://www.whocc.no/atc": "ATC",
    "http://hl7.org/fhir/sid/cvx": "CVX",
    "http://hl7.org/fhir/sid/icd-10": "ICD-10",
    "http://hl7.org/fhir/sid/icd-10-cm": "ICD-10-CM",
}
UCUM_SYSTEM = "http://unitsofmeasure.org"

JsonObject = dict[str, Any]
"""An object of untrusted JSON; its numbers are decimals."""


@dataclass(frozen=True)
class Period:
    start: str = ""
    end: str = ""

    def __bool__(self) -> bool:
        return bool(self.start or self.end)

    def __str__(self) -> str:
        """Return it in days; empty if neither end is known."""
        start, end = format_day(self.start), format_day(self.end)
        if start and end:
            return f"on {start}" if start == end else f"{start} to {end}"
        return f"since {start}" if start else f"until {end}" if end else ""


def clean_json(value: Any) -> Any:  # any JSON value
    """Return JSON without nulls, its texts on one line of limited length.

    Raises:
        ValueError: a number is too long to be written out.
    """
    match value:
        case dict():
            return {key: clean_json(item) for key, item in value.items() if item is not None}
        case list():
            return [clean_json(item) for item in value if item is not None]
        case str():
            return sanitize_line(value, MAX_TEXT_CHARS)
        case Decimal() if abs(value.adjusted()) > MAX_DIGITS:
            raise ValueError("a number is too long")
    return value


def get_part(holder: JsonObject, *names: str) -> JsonObject:
    """Return an object within an object; empty if there is none."""
    for name in names:
        inner = holder.get(name)
        holder = inner if isinstance(inner, dict) else {}
    return holder


def get_label(concept: JsonObject) -> str:
    """Return a concept's words; its first code if it has none."""
    codings = concept.get("coding", [])
    shown = [concept.get("text")] + [c.get(key) for key in ("display", "code") for c in codings]
    return sanitize_line(next(filter(None, shown), ""), MAX_LABEL_CHARS)


def find_code(concept: JsonObject, system: str = "") -> str:
    """Return a concept's first code of a system, or of any."""
    codings = concept.get("coding", [])
    known = (c["code"] for c in codings if c.get("code") and system in ("", c.get("system")))
    return str(next(known, ""))


def format_concept(concept: JsonObject) -> str:
    """Return a concept's words, with the code in brackets if its system is known."""
    words = get_label(concept) or "unnamed"
    for coding in concept.get("coding", []):
        if coding.get("code") and coding.get("system") in CODE_SYSTEMS:
            code = f"{CODE_SYSTEMS[coding['system']]} {coding['code']}"
            return words if code in words else f"{words} ({code})"
    return words


def read_period(holder: JsonObject, name: str) -> Period:
    part = get_part(holder, name)
    return Period(part.get("start", ""), part.get("end", ""))


def get_unit(quantity: JsonObject) -> str:
    """Return what distinguishes units: the UCUM code, else the unit's words."""
    code = str(quantity.get("code", ""))
    return (code if quantity.get("system") == UCUM_SYSTEM else "") or quantity.get("unit") or code


def format_quantity(quantity: JsonObject) -> str:
    """Return a quantity written out, such as `<7.0 %`."""
    unit = quantity.get("unit") or quantity.get("code", "")
    number = f"{quantity.get('comparator', '')}{format_number(quantity.get('value'))}"
    return f"{number} {unit}".strip()


def format_number(value: Decimal | None) -> str:
    """Return a number as written in the source, never with an exponent."""
    return "" if value is None else f"{value:f}"
