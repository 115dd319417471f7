"""What is read of each FHIR resource. Whether it is valid R4 has been checked before."""

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


class _Read(BaseModel):
    """A part of a resource; what is not named here is not read."""

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


class Coding(_Read):
    system: str = ""
    code: Words = ""
    display: Words = ""


class Concept(_Read):
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


class Quantity(_Read):
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


class Period(_Read):
    start: str = ""
    end: str = ""

    @property
    def first(self) -> Moment | None:
        return moment(self.start)

    @property
    def last(self) -> Moment | None:
        return moment(self.end)


class Reference(_Read):
    reference: str = ""
    display: Words = ""


class Range(_Read):
    """A reference range of an observation."""

    low: Quantity | None = None
    high: Quantity | None = None
    type: Concept | None = None
    applies_to: tuple[Concept, ...] = Field((), alias="appliesTo")
    age: dict[str, Any] | None = None
    text: Words = ""


class Result(_Read):
    """What an observation and each of its components hold alike."""

    code: Concept
    quantity: Quantity | None = Field(None, alias="valueQuantity")
    concept: Concept | None = Field(None, alias="valueCodeableConcept")
    string: Words = Field("", alias="valueString")
    integer: int | None = Field(None, alias="valueInteger")
    boolean: bool | None = Field(None, alias="valueBoolean")
    absent: Concept | None = Field(None, alias="dataAbsentReason")
    interpretation: tuple[Concept, ...] = ()
    ranges: tuple[Range, ...] = Field((), alias="referenceRange")

    @property
    def in_words(self) -> str:
        """Give a result that is no quantity; empty where there is none."""
        if self.concept is not None:
            return self.concept.words
        told = self.integer if self.integer is not None else self.boolean
        return self.string if told is None else plain_line(str(told).lower(), MAX_WORDS_CHARS)


class Observation(Result):
    status: Words = ""
    effective_date: str = Field("", alias="effectiveDateTime")
    effective_instant: str = Field("", alias="effectiveInstant")
    effective_period: Period = Field(Period(), alias="effectivePeriod")
    component: tuple[Result, ...] = ()
    members: tuple[Reference, ...] = Field((), alias="hasMember")

    @property
    def when(self) -> Moment | None:
        text = self.effective_date or self.effective_instant or self.effective_period.start
        return moment(text)


class Name(_Read):
    use: str = ""
    text: Words = ""
    family: Words = ""
    given: tuple[Words, ...] = ()

    @property
    def words(self) -> str:
        return self.text or " ".join(filter(None, (*self.given, self.family)))


class Patient(_Read):
    name: tuple[Name, ...] = ()
    gender: Words = ""
    birth_date: str = Field("", alias="birthDate")
    deceased: bool = Field(False, alias="deceasedBoolean")
    deceased_date: str = Field("", alias="deceasedDateTime")

    @property
    def words(self) -> str:
        """Give the official name, else the first."""
        ranked = sorted(self.name, key=lambda name: name.use != "official")
        return next((name.words for name in ranked if name.words), "")


class Condition(_Read):
    code: Concept = Concept()
    clinical: Concept = Field(Concept(), alias="clinicalStatus")
    verification: Concept = Field(Concept(), alias="verificationStatus")
    onset_date: str = Field("", alias="onsetDateTime")
    onset_period: Period = Field(Period(), alias="onsetPeriod")
    onset_words: Words = Field("", alias="onsetString")
    abatement_date: str = Field("", alias="abatementDateTime")
    abatement_period: Period = Field(Period(), alias="abatementPeriod")

    @property
    def span(self) -> Period:
        """Give onset and abatement."""
        ended = self.abatement_date or self.abatement_period.end or self.abatement_period.start
        return Period(start=self.onset_date or self.onset_period.start, end=ended)


class Reaction(_Read):
    manifestation: tuple[Concept, ...] = ()
    severity: Words = ""


class Allergy(_Read):
    code: Concept = Concept()
    clinical: Concept = Field(Concept(), alias="clinicalStatus")
    verification: Concept = Field(Concept(), alias="verificationStatus")
    criticality: Words = ""
    onset_date: str = Field("", alias="onsetDateTime")
    recorded_date: str = Field("", alias="recordedDate")
    reaction: tuple[Reaction, ...] = ()


class Encounter(_Read):
    status: Words = ""
    kind: Coding = Field(Coding(), alias="class")
    type: tuple[Concept, ...] = ()
    reason: tuple[Concept, ...] = Field((), alias="reasonCode")
    period: Period = Period()


class Immunization(_Read):
    status: Words = ""
    vaccine: Concept = Field(Concept(), alias="vaccineCode")
    occurrence_date: str = Field("", alias="occurrenceDateTime")
    occurrence_words: Words = Field("", alias="occurrenceString")


class Repeat(_Read):
    bounds: Period = Field(Period(), alias="boundsPeriod")
    frequency: int | None = None
    period: Number | None = None
    period_unit: Words = Field("", alias="periodUnit")


class Timing(_Read):
    repeat: Repeat = Repeat()
    code: Concept = Concept()


class Dose(_Read):
    quantity: Quantity | None = Field(None, alias="doseQuantity")


class Dosage(_Read):
    text: Instruction = ""
    instruction: Instruction = Field("", alias="patientInstruction")
    as_needed: bool = Field(False, alias="asNeededBoolean")
    as_needed_for: Concept | None = Field(None, alias="asNeededCodeableConcept")
    timing: Timing = Timing()
    route: Concept = Concept()
    doses: tuple[Dose, ...] = Field((), alias="doseAndRate")


class Dispense(_Read):
    validity: Period = Field(Period(), alias="validityPeriod")


def _as_list(value: Any) -> Any:  # whatever JSON holds
    return [value] if isinstance(value, Mapping) else value


class Medication(_Read):
    """A request or a statement; R4 has the medicine as a concept or as a reference."""

    status: Words = ""
    intent: Words = ""
    concept: Concept | None = Field(None, alias="medicationCodeableConcept")
    reference: Reference = Field(Reference(), alias="medicationReference")
    status_reason: Annotated[tuple[Concept, ...], BeforeValidator(_as_list)] = Field(
        (), alias="statusReason"
    )
    """One in a request, several in a statement."""
    authored: str = Field("", alias="authoredOn")
    asserted: str = Field("", alias="dateAsserted")
    effective_date: str = Field("", alias="effectiveDateTime")
    effective_period: Period = Field(Period(), alias="effectivePeriod")
    instructions: tuple[Dosage, ...] = Field((), alias="dosageInstruction")
    dosage: tuple[Dosage, ...] = ()
    dispense: Dispense = Field(Dispense(), alias="dispenseRequest")


class Substance(_Read):
    """A `Medication` resource: what a reference leads to."""

    code: Concept = Concept()


def plain_number(value: Decimal | None) -> str:
    """Write a number as it stands in the source, never with an exponent."""
    return "" if value is None else f"{value:f}"
