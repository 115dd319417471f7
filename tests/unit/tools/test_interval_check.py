"""Dates of a record that cannot be right, or clash."""

import json
from typing import Any

from nodes.tools.interval_check import interval_check
from tests.unit.tools.fhir_samples import (
    EXAMPLE,
    PATIENT,
    bundle,
    condition,
    dosed,
    encounter,
    observation,
    request,
)


async def checked(text: str) -> dict[str, Any]:
    question = "Are the dates of the record consistent?"
    asked = {"material": "b.json", "question": question, "materials": {"b.json": text}}
    told = await interval_check.ainvoke(asked)
    assert isinstance(told, dict)
    return told


def found(told: dict[str, Any]) -> dict[str, str]:
    return {finding["file"].partition("#")[2]: finding["message"] for finding in told["findings"]}


async def test_the_example_has_one_impossible_date_and_one_that_has_passed():
    told = await checked(EXAMPLE.read_text())

    assert set(found(told)) == {"Condition/bronchitis", "MedicationRequest/doxycycline"}
    assert "ends on 2024-11-04, before it begins on 2024-11-20" in told["summary"]
    assert "called active, but ended on 2024-11-27" in told["summary"]
    assert [claim["source"].partition("#")[2] for claim in told["claims"]] == [
        "AllergyIntolerance/penicillin",
        "Encounter/visit-2025-09",
    ]


async def test_nothing_lies_outside_a_life():
    life = PATIENT | {"birthDate": "1950-03", "deceasedDateTime": "2020-02-01"}
    text = bundle(
        observation("early", 5, "1950-02-28"),
        observation("born", 5, "1950-03-10"),
        observation("late", 5, "2020-02-02"),
    )

    told = await checked(text.replace(json.dumps(PATIENT), json.dumps(life)))

    assert found(told) == {
        "Observation/early": "Glucose (observation) is dated before birth (1950-03)",
        "Observation/late": "Glucose (observation) begins on 2020-02-02, after death (2020-02-01)",
    }


async def test_hospital_stays_that_overlap_are_found_and_visits_are_not():
    told = await checked(
        bundle(
            encounter("one", "2024-01-01", "2024-01-09"),
            encounter("two", "2024-01-05", "2024-01-20"),
            encounter("next", "2024-01-20", "2024-01-25"),
            encounter("visit", "2024-01-06", "2024-01-06", "AMB"),
        )
    )

    assert found(told) == {
        "Encounter/two": "IMP (encounter) overlaps IMP (encounter) (Encounter/one)"
    }


async def test_courses_of_one_medicine_overlap_only_by_their_own_dates():
    told = await checked(
        bundle(
            request("a", "Aspirin", "completed", **dosed("1", "2023-01-01", "2023-06-30")),
            request("b", "Aspirin", "stopped", **dosed("2", "2023-06-01", "2023-09-30")),
            request("c", "Aspirin", "completed", **dosed("1", "2023-10-01", "2023-11-30")),
            request("d", "Paracetamol", "completed", **dosed("1", "2023-01-01", "2023-06-30")),
        )
    )

    assert list(found(told)) == ["MedicationRequest/b"]


async def test_a_month_is_not_before_one_of_its_days():
    told = await checked(
        bundle(condition("c", "Flu", onsetDateTime="2024-05-20", abatementDateTime="2024-05"))
    )

    assert found(told) == {}


async def test_an_active_matter_whose_end_has_passed_is_told_by_the_records_newest_date():
    gone = condition("c", "Flu", onsetDateTime="2020", abatementDateTime="2021")

    alone = await checked(bundle(gone))
    later = await checked(bundle(gone, observation("o", 5, "2022")))

    assert found(alone) == {}
    assert "the record goes on to 2022" in found(later)["Condition/c"]


async def test_what_has_no_date_is_named():
    told = await checked(bundle(condition("c", "Flu")))

    assert "Without a date, so not checked: Condition/c." in told["gaps"]
