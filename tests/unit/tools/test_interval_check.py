"""Dates of a record that cannot be right, or clash."""

import json
from functools import partial
from typing import Any

import pytest

from teams.patient_summary.tools.interval_check import interval_check
from tests.unit.tools.fhir_samples import (
    EXAMPLE,
    PATIENT,
    ask_tool,
    make_bundle,
    make_condition,
    make_dosage,
    make_encounter,
    make_medication_request,
    make_observation,
)

pytestmark = pytest.mark.slow


check_intervals = partial(ask_tool, interval_check)


def list_findings(told: dict[str, Any]) -> dict[str, str]:
    return {finding["file"].partition("#")[2]: finding["message"] for finding in told["findings"]}


async def test_the_example_has_one_impossible_date_and_one_that_has_passed():
    told = await check_intervals(EXAMPLE.read_text())

    assert set(list_findings(told)) == {"Condition/bronchitis", "MedicationRequest/doxycycline"}
    found = list_findings(told)
    assert "ends on 2024-11-04, before it begins on 2024-11-20" in found["Condition/bronchitis"]
    assert "called active, but ended on 2024-11-27" in found["MedicationRequest/doxycycline"]
    assert [claim["source"].partition("#")[2] for claim in told["claims"]] == [
        "AllergyIntolerance/penicillin",
        "Encounter/visit-2025-09",
    ]


async def test_nothing_lies_outside_a_life():
    life = PATIENT | {"birthDate": "1950-03", "deceasedDateTime": "2020-02-01"}
    text = make_bundle(
        make_observation("early", 5, "1950-02-28"),
        make_observation("born", 5, "1950-03-10"),
        make_observation("late", 5, "2020-02-02"),
    )

    told = await check_intervals(text.replace(json.dumps(PATIENT), json.dumps(life)))

    assert list_findings(told) == {
        "Observation/early": "Glucose (Observation) is dated before birth (1950-03)",
        "Observation/late": "Glucose (Observation) begins on 2020-02-02, after death (2020-02-01)",
    }


async def test_hospital_stays_that_overlap_are_found_and_visits_are_not():
    told = await check_intervals(
        make_encounter("one", "2024-01-01", "2024-01-09"),
        make_encounter("two", "2024-01-05", "2024-01-20"),
        make_encounter("next", "2024-01-20", "2024-01-25"),
        make_encounter("visit", "2024-01-06", "2024-01-06", "AMB"),
    )

    assert list_findings(told) == {
        "Encounter/two": "IMP (Encounter) overlaps IMP (Encounter) (Encounter/one)"
    }


async def test_courses_of_one_medicine_overlap_only_by_their_own_dates():
    told = await check_intervals(
        make_medication_request(
            "a", "Aspirin", "completed", **make_dosage("1", "2023-01-01", "2023-06-30")
        ),
        make_medication_request(
            "b", "Aspirin", "stopped", **make_dosage("2", "2023-06-01", "2023-09-30")
        ),
        make_medication_request(
            "c", "Aspirin", "completed", **make_dosage("1", "2023-10-01", "2023-11-30")
        ),
        make_medication_request(
            "d", "Paracetamol", "completed", **make_dosage("1", "2023-01-01", "2023-06-30")
        ),
    )

    assert list(list_findings(told)) == ["MedicationRequest/b"]


async def test_a_month_is_not_before_one_of_its_days():
    told = await check_intervals(
        make_condition("c", "Flu", onsetDateTime="2024-05-20", abatementDateTime="2024-05")
    )

    assert list_findings(told) == {}


async def test_an_active_entry_that_has_ended_is_detected_by_the_newest_date_or_a_given_day():
    gone = make_condition("c", "Flu", onsetDateTime="2020", abatementDateTime="2021-03-01")

    alone = await check_intervals(gone)
    later = await check_intervals(gone, make_observation("o", 5, "2022"))
    before = await check_intervals(make_bundle(gone), on="2021-03-01")
    after = await check_intervals(make_bundle(gone), on="2021-03-02")

    assert list_findings(alone) == list_findings(before) == {}
    assert "the record continues to 2022" in list_findings(later)["Condition/c"]
    assert "it was checked for 2021-03-02" in list_findings(after)["Condition/c"]


async def test_what_has_no_date_is_named():
    told = await check_intervals(make_condition("c", "Flu"))

    assert "Without a date, so not checked: Condition/c." in told["gaps"]
