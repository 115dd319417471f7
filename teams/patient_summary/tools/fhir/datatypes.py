"""The data types of FHIR resources, as far as they are read."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from nodes.text.plain_text import sanitize_line

from .dates import FhirDate, parse_date

MAX_TEXT_CHARS = 120
MAX_DOSAGE_CHARS = 500
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

ShortText = Annotated[str, BeforeValidator(lambda text: sanitize_line(str(text), MAX_TEXT_CHARS))]
"""Words from an untrusted source: one line, of limited length."""
DosageText = Annotated[
    str, BeforeValidator(lambda text: sanitize_line(str(text), MAX_DOSAGE_CHARS))
]
FhirDecimal = Annotated[Decimal, Field(max_digits=MAX_DIGITS)]


class FhirModel(BaseModel):
    """A resource or a part of one; fields that are not declared are not read."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, value: Any) -> Any:  # any JSON value
        if not isinstance(value, Mapping):
            return value
        kept = {key: item for key, item in value.items() if item is not None}
        return {
            key: [each for each in item if each is not None] if isinstance(item, list) else item
            for key, item in kept.items()
        }


class Coding(FhirModel):
    system: str = ""
    code: ShortText = ""
    display: ShortText = ""


class Concept(FhirModel):
    """A concept in words, in codes, or both."""

    text: ShortText = ""
    coding: tuple[Coding, ...] = ()

    @property
    def label(self) -> str:
        """Return its words; its first code if it has none."""
        shown = [coding.display for coding in self.coding] + [coding.code for coding in self.coding]
        return self.text or next(filter(None, shown), "")

    @property
    def code_with_system(self) -> str:
        """Return its first code with the name of its system; empty if the system is not known."""
        known = (c for c in self.coding if c.code and c.system in CODE_SYSTEMS)
        return next((f"{CODE_SYSTEMS[c.system]} {c.code}" for c in known), "")

    @property
    def label_with_code(self) -> str:
        """Return its words, with the code in brackets."""
        words = self.label or "unnamed"
        return (
            f"{words} ({self.code_with_system})"
            if self.code_with_system and self.code_with_system not in words
            else words
        )

    def find_code(self, system: str = "") -> str:
        """Return the first code of a system, or of any."""
        known = (c.code for c in self.coding if c.code and system in ("", c.system))
        return next(known, "")


class FhirQuantity(FhirModel):
    """A number as written, and its unit."""

    value: FhirDecimal | None = None
    comparator: ShortText = ""
    unit: ShortText = ""
    system: str = ""
    code: ShortText = ""

    @property
    def unit_key(self) -> str:
        """Return what distinguishes units: the UCUM code, else the unit's words."""
        return (self.code if self.system == UCUM_SYSTEM else "") or self.unit or self.code

    @property
    def display_text(self) -> str:
        """Return it written out, such as `<7.0 %`."""
        unit = self.unit or self.code
        return f"{self.comparator}{format_decimal(self.value)}{f' {unit}' if unit else ''}"


class Period(FhirModel):
    start: str = ""
    end: str = ""

    @property
    def start_date(self) -> FhirDate | None:
        return parse_date(self.start)

    @property
    def end_date(self) -> FhirDate | None:
        return parse_date(self.end)


class Reference(FhirModel):
    reference: str = ""
    display: ShortText = ""


def format_decimal(value: Decimal | None) -> str:
    """Return a number as written in the source, never with an exponent."""
    return "" if value is None else f"{value:f}"
