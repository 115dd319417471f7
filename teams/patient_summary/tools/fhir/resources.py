"""The fields that are read of each FHIR resource. R4 validity has been checked before."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from nodes.text.plain_text import sanitize_line

from .datatypes import (
    MAX_TEXT_CHARS,
    Coding,
    Concept,
    DosageText,
    FhirDecimal,
    FhirModel,
    FhirQuantity,
    Period,
    Reference,
    ShortText,
)
from .dates import FhirDate, parse_date


class ReferenceRange(FhirModel):
    """A reference range of an observation."""

    low: FhirQuantity | None = None
    high: FhirQuantity | None = None
    type: Concept | None = None
    applies_to: tuple[Concept, ...] = Field((), alias="appliesTo")
    age: dict[str, Any] | None = None
    text: ShortText = ""


class ObservationResult(FhirModel):
    """The fields that an observation and each of its components share."""

    code: Concept
    quantity: FhirQuantity | None = Field(None, alias="valueQuantity")
    concept: Concept | None = Field(None, alias="valueCodeableConcept")
    string: ShortText = Field("", alias="valueString")
    integer: int | None = Field(None, alias="valueInteger")
    boolean: bool | None = Field(None, alias="valueBoolean")
    absent: Concept | None = Field(None, alias="dataAbsentReason")
    interpretation: tuple[Concept, ...] = ()
    ranges: tuple[ReferenceRange, ...] = Field((), alias="referenceRange")

    @property
    def text_value(self) -> str:
        """Return a result that is not a quantity; empty if there is none."""
        if self.concept is not None:
            return self.concept.label
        told = self.integer if self.integer is not None else self.boolean
        return self.string if told is None else sanitize_line(str(told).lower(), MAX_TEXT_CHARS)


class Observation(ObservationResult):
    status: ShortText = ""
    effective_date: str = Field("", alias="effectiveDateTime")
    effective_instant: str = Field("", alias="effectiveInstant")
    effective_period: Period = Field(Period(), alias="effectivePeriod")
    component: tuple[ObservationResult, ...] = ()
    members: tuple[Reference, ...] = Field((), alias="hasMember")

    @property
    def observed_on(self) -> FhirDate | None:
        text = self.effective_date or self.effective_instant or self.effective_period.start
        return parse_date(text)


class HumanName(FhirModel):
    use: str = ""
    text: ShortText = ""
    family: ShortText = ""
    given: tuple[ShortText, ...] = ()

    @property
    def full_name(self) -> str:
        return self.text or " ".join(filter(None, (*self.given, self.family)))


class Patient(FhirModel):
    name: tuple[HumanName, ...] = ()
    gender: ShortText = ""
    birth_date: str = Field("", alias="birthDate")
    deceased: bool = Field(False, alias="deceasedBoolean")
    deceased_date: str = Field("", alias="deceasedDateTime")

    @property
    def full_name(self) -> str:
        """Return the official name, else the first."""
        ranked = sorted(self.name, key=lambda name: name.use != "official")
        return next((name.full_name for name in ranked if name.full_name), "")


class Condition(FhirModel):
    code: Concept = Concept()
    clinical: Concept = Field(Concept(), alias="clinicalStatus")
    verification: Concept = Field(Concept(), alias="verificationStatus")
    onset_date: str = Field("", alias="onsetDateTime")
    onset_period: Period = Field(Period(), alias="onsetPeriod")
    onset_words: ShortText = Field("", alias="onsetString")
    abatement_date: str = Field("", alias="abatementDateTime")
    abatement_period: Period = Field(Period(), alias="abatementPeriod")

    @property
    def active_period(self) -> Period:
        """Return the period between onset and abatement."""
        ended = self.abatement_date or self.abatement_period.end or self.abatement_period.start
        return Period(start=self.onset_date or self.onset_period.start, end=ended)


class Reaction(FhirModel):
    manifestation: tuple[Concept, ...] = ()
    severity: ShortText = ""


class Allergy(FhirModel):
    code: Concept = Concept()
    clinical: Concept = Field(Concept(), alias="clinicalStatus")
    verification: Concept = Field(Concept(), alias="verificationStatus")
    criticality: ShortText = ""
    onset_date: str = Field("", alias="onsetDateTime")
    recorded_date: str = Field("", alias="recordedDate")
    reaction: tuple[Reaction, ...] = ()


class Encounter(FhirModel):
    status: ShortText = ""
    kind: Coding = Field(Coding(), alias="class")
    type: tuple[Concept, ...] = ()
    reason: tuple[Concept, ...] = Field((), alias="reasonCode")
    period: Period = Period()


class Immunization(FhirModel):
    status: ShortText = ""
    vaccine: Concept = Field(Concept(), alias="vaccineCode")
    occurrence_date: str = Field("", alias="occurrenceDateTime")
    occurrence_words: ShortText = Field("", alias="occurrenceString")


class Repeat(FhirModel):
    bounds: Period = Field(Period(), alias="boundsPeriod")
    frequency: int | None = None
    period: FhirDecimal | None = None
    period_unit: ShortText = Field("", alias="periodUnit")


class DosageTiming(FhirModel):
    repeat: Repeat = Repeat()
    code: Concept = Concept()


class Dose(FhirModel):
    quantity: FhirQuantity | None = Field(None, alias="doseQuantity")


class Dosage(FhirModel):
    text: DosageText = ""
    instruction: DosageText = Field("", alias="patientInstruction")
    as_needed: bool = Field(False, alias="asNeededBoolean")
    as_needed_for: Concept | None = Field(None, alias="asNeededCodeableConcept")
    timing: DosageTiming = DosageTiming()
    route: Concept = Concept()
    doses: tuple[Dose, ...] = Field((), alias="doseAndRate")


class Dispense(FhirModel):
    validity: Period = Field(Period(), alias="validityPeriod")


def _wrap_in_list(value: Any) -> Any:  # any JSON value
    return [value] if isinstance(value, Mapping) else value


class MedicationUse(FhirModel):
    """A request or a statement; R4 has the medicine as a concept or as a reference."""

    status: ShortText = ""
    intent: ShortText = ""
    concept: Concept | None = Field(None, alias="medicationCodeableConcept")
    reference: Reference = Field(Reference(), alias="medicationReference")
    status_reason: Annotated[tuple[Concept, ...], BeforeValidator(_wrap_in_list)] = Field(
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


class MedicationSubstance(FhirModel):
    """A `Medication` resource, to which a reference may point."""

    code: Concept = Concept()
