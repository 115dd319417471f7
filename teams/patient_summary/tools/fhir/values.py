"""Read the data types of FHIR from JSON: concepts, quantities, periods."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from nodes.text.plain_text import sanitize_line

from .dates import format_day

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
