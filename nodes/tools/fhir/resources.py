"""What is read of each FHIR resource. Whether it is valid R4 has been checked before."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from nodes.tools.fhir.datatypes import (
    MAX_WORDS_CHARS,
    Coding,
    Concept,
    Instruction,
    Number,
    Period,
    Quantity,
    Read,
    Reference,
    Words,
)
from nodes.tools.fhir.moments import Moment, moment
from nodes.tools.plain_text import plain_line


class Range(Read):
    """A reference range of an observation."""

    low: Quantity | None = None
    high: Quantity | None = None
    type: Concept | None = None
    applies_to: tuple[Concept, ...] = Field((), alias="appliesTo")
    age: dict[str, Any] | None = None
    text: Words = ""


class Result(Read):
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


class Name(Read):
    use: str = ""
    text: Words = ""
    family: Words = ""
    given: tuple[Words, ...] = ()

    @property
    def words(self) -> str:
        return self.text or " ".join(filter(None, (*self.given, self.family)))


class Patient(Read):
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


class Condition(Read):
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


class Reaction(Read):
    manifestation: tuple[Concept, ...] = ()
    severity: Words = ""


class Allergy(Read):
    code: Concept = Concept()
    clinical: Concept = Field(Concept(), alias="clinicalStatus")
    verification: Concept = Field(Concept(), alias="verificationStatus")
    criticality: Words = ""
    onset_date: str = Field("", alias="onsetDateTime")
    recorded_date: str = Field("", alias="recordedDate")
    reaction: tuple[Reaction, ...] = ()


class Encounter(Read):
    status: Words = ""
    kind: Coding = Field(Coding(), alias="class")
    type: tuple[Concept, ...] = ()
    reason: tuple[Concept, ...] = Field((), alias="reasonCode")
    period: Period = Period()


class Immunization(Read):
    status: Words = ""
    vaccine: Concept = Field(Concept(), alias="vaccineCode")
    occurrence_date: str = Field("", alias="occurrenceDateTime")
    occurrence_words: Words = Field("", alias="occurrenceString")


class Repeat(Read):
    bounds: Period = Field(Period(), alias="boundsPeriod")
    frequency: int | None = None
    period: Number | None = None
    period_unit: Words = Field("", alias="periodUnit")


class Timing(Read):
    repeat: Repeat = Repeat()
    code: Concept = Concept()


class Dose(Read):
    quantity: Quantity | None = Field(None, alias="doseQuantity")


class Dosage(Read):
    text: Instruction = ""
    instruction: Instruction = Field("", alias="patientInstruction")
    as_needed: bool = Field(False, alias="asNeededBoolean")
    as_needed_for: Concept | None = Field(None, alias="asNeededCodeableConcept")
    timing: Timing = Timing()
    route: Concept = Concept()
    doses: tuple[Dose, ...] = Field((), alias="doseAndRate")


class Dispense(Read):
    validity: Period = Field(Period(), alias="validityPeriod")


def _as_list(value: Any) -> Any:  # whatever JSON holds
    return [value] if isinstance(value, Mapping) else value


class Medication(Read):
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


class Substance(Read):
    """A `Medication` resource: what a reference leads to."""

    code: Concept = Concept()
