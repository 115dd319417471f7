"""The parts that FHIR resources are made of, as far as they are read."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from nodes.tools.fhir.moments import Moment, moment
from nodes.tools.plain_text import plain_line

MAX_WORDS_CHARS = 120
MAX_DOSE_CHARS = 500
MAX_DIGITS = 30
"""Of a number written out: an exponent could make it as long as a book."""
SYSTEMS = {
    "http://loinc.org": "LOINC",
    "http://snomed.info/sct": "SNOMED CT",
    "http://www.nlm.nih.gov/research/umls/rxnorm": "RxNorm",
    "http://www.whocc.no/atc": "ATC",
    "http://hl7.org/fhir/sid/cvx": "CVX",
    "http://hl7.org/fhir/sid/icd-10": "ICD-10",
    "http://hl7.org/fhir/sid/icd-10-cm": "ICD-10-CM",
}
UCUM = "http://unitsofmeasure.org"

Words = Annotated[str, BeforeValidator(lambda text: plain_line(str(text), MAX_WORDS_CHARS))]
"""A stranger's words: one line, of limited length."""
Instruction = Annotated[str, BeforeValidator(lambda text: plain_line(str(text), MAX_DOSE_CHARS))]
Number = Annotated[Decimal, Field(max_digits=MAX_DIGITS)]


class Read(BaseModel):
    """A resource or a part of one; what is not named in it is not read."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:  # whatever JSON holds
        if not isinstance(value, Mapping):
            return value
        kept = {key: item for key, item in value.items() if item is not None}
        return {
            key: [each for each in item if each is not None] if isinstance(item, list) else item
            for key, item in kept.items()
        }


class Coding(Read):
    system: str = ""
    code: Words = ""
    display: Words = ""


class Concept(Read):
    """A notion in words, in codes, or both."""

    text: Words = ""
    coding: tuple[Coding, ...] = ()

    @property
    def words(self) -> str:
        """Give its words; its first code where it has none."""
        shown = [coding.display for coding in self.coding] + [coding.code for coding in self.coding]
        return self.text or next(filter(None, shown), "")

    @property
    def coded(self) -> str:
        """Give its first code with the name of its system; empty where that is not known."""
        known = (c for c in self.coding if c.code and c.system in SYSTEMS)
        return next((f"{SYSTEMS[c.system]} {c.code}" for c in known), "")

    @property
    def titled(self) -> str:
        """Give its words, with the code in brackets."""
        words = self.words or "unnamed"
        return f"{words} ({self.coded})" if self.coded and self.coded not in words else words

    def code(self, system: str = "") -> str:
        """Give the first code of a system, or of any."""
        known = (c.code for c in self.coding if c.code and system in ("", c.system))
        return next(known, "")


class Quantity(Read):
    """A number as it was written, and its unit."""

    value: Number | None = None
    comparator: Words = ""
    unit: Words = ""
    system: str = ""
    code: Words = ""

    @property
    def measure(self) -> str:
        """Give what tells one unit from another: the UCUM code, else the unit's words."""
        return (self.code if self.system == UCUM else "") or self.unit or self.code

    @property
    def shown(self) -> str:
        """Write it out, such as `<7.0 %`."""
        unit = self.unit or self.code
        return f"{self.comparator}{plain_number(self.value)}{f' {unit}' if unit else ''}"


class Period(Read):
    start: str = ""
    end: str = ""

    @property
    def first(self) -> Moment | None:
        return moment(self.start)

    @property
    def last(self) -> Moment | None:
        return moment(self.end)


class Reference(Read):
    reference: str = ""
    display: Words = ""


def plain_number(value: Decimal | None) -> str:
    """Write a number as it stands in the source, never with an exponent."""
    return "" if value is None else f"{value:f}"
