"""The medication list: by status, with doses and dates as the bundle has them, duplicates named."""

from functools import partial
from typing import Any

import pytest

from teams.patient_summary.tools.medication_list import medication_list
from tests.unit.tools.fhir_samples import (
    EXAMPLE,
    SUBJECT,
    ask_tool,
    make_bundle,
    make_dosage,
    make_medication_request,
    make_quantity,
    read_resources,
)

pytestmark = pytest.mark.slow


list_medicines = partial(ask_tool, medication_list)


def find_text(told: dict[str, Any], name: str) -> str:
    (claim,) = (claim for claim in told["claims"] if claim["source"] == f"b.json#{name}")
    return str(claim["text"])


async def test_each_medicine_of_the_example_has_its_own_status_and_its_own_dose():
    told = await list_medicines(EXAMPLE.read_text())

    held = read_resources(EXAMPLE)
    medicines = {name: held[name] for name in held if name.startswith("Medication")}
    assert {claim["source"] for claim in told["claims"]} == {f"b.json#{name}" for name in medicines}
    for name, resource in medicines.items():
        line = find_text(told, name)
        assert f", {resource['status']}," in line
        dosage = (resource.get("dosageInstruction") or resource.get("dosage") or [{}])[0]
        assert resource["medicationCodeableConcept"]["text"] in line
        assert dosage.get("text", "no dose stated") in line
        bounds = dosage.get("timing", {}).get("repeat", {}).get("boundsPeriod", {})
        for day in (*bounds.values(), resource.get("authoredOn", "")):
            assert day in line
    assert "reason: Dry cough" in find_text(told, "MedicationRequest/ramipril-5")


async def test_current_duplicates_of_the_example_are_findings():
    told = await list_medicines(EXAMPLE.read_text())

    found = {finding["file"]: finding for finding in told["findings"]}
    assert set(found) == {
        "b.json#MedicationRequest/atorvastatin-40",
        "b.json#MedicationStatement/metformin-own",
    }
    assert found["b.json#MedicationRequest/atorvastatin-40"]["severity"] == "medium"
    assert found["b.json#MedicationStatement/metformin-own"]["severity"] == "low"
    assert "20 mg in the evening" in found["b.json#MedicationRequest/atorvastatin-40"]["message"]


async def test_a_stopped_medicine_is_no_duplicate_and_words_alone_can_tell_one():
    told = await list_medicines(
        make_medication_request("a", "Aspirin"),
        make_medication_request("b", "aspirin"),
        make_medication_request("c", "Aspirin", "stopped"),
        make_medication_request("d", "Paracetamol"),
    )

    assert [finding["file"] for finding in told["findings"]] == ["b.json#MedicationRequest/b"]
    assert any("No code, only words" in gap for gap in told["gaps"])


async def test_a_medicine_is_found_by_its_reference():
    substance = {"resourceType": "Medication", "id": "m", "code": {"text": "Aspirin"}}
    inside = {"medicationReference": {"reference": "Medication/m"}}
    lost = {"medicationReference": {"reference": "Medication/n", "display": "Some pill"}}
    made = [
        make_medication_request(name, "") | fields for name, fields in (("a", inside), ("b", lost))
    ]
    for each in made:
        del each["medicationCodeableConcept"]

    told = await list_medicines(substance, *made)

    assert "Aspirin: no dose stated" in find_text(told, "MedicationRequest/a")
    assert "Some pill: no dose stated" in find_text(told, "MedicationRequest/b")


async def test_a_structured_dose_is_reported_as_such_and_one_in_words_is_quoted_whole():
    timing = {"repeat": {"frequency": 2, "period": 1, "periodUnit": "d"}}
    dose = {"doseAndRate": [{"doseQuantity": make_quantity(500, "mg")}], "timing": timing}
    long = "Take one tablet " + "very carefully " * 20

    told = await list_medicines(
        make_medication_request("a", "A", dosageInstruction=[{**dose, "asNeededBoolean": True}]),
        make_medication_request("b", "B", **make_dosage(long)),
    )

    dose_in_words = "500 mg, 2 x per 1 d, as needed (from its fields, which may say more)"
    assert dose_in_words in find_text(told, "MedicationRequest/a")
    assert " ".join(long.split()) in find_text(told, "MedicationRequest/b")


async def test_a_prescriptions_validity_is_not_taken_for_the_time_of_taking():
    valid = {"validityPeriod": {"start": "2024-01-01", "end": "2024-12-31"}}

    told = await list_medicines(make_medication_request("a", "A", dispenseRequest=valid))

    text = find_text(told, "MedicationRequest/a")
    assert "prescription valid 2024-01-01 to 2024-12-31" in text


async def test_missing_dose_date_and_list_are_gaps():
    told = await list_medicines(make_medication_request("a", "A"))
    nothing = await list_medicines()

    assert "No dose is stated: MedicationRequest/a." in told["gaps"]
    assert "No date is stated: MedicationRequest/a." in told["gaps"]
    assert "0 medicine entries." in nothing["summary"]
    assert "that does not mean that nothing is taken" in nothing["gaps"][0]


@pytest.mark.parametrize("status", ["on-hold", "intended", "not-taken", "unknown"])
async def test_every_status_is_listed_and_counted(status):
    statement = {
        "resourceType": "MedicationStatement",
        "id": "s",
        "status": status,
        "medicationCodeableConcept": {"text": "A"},
        "subject": SUBJECT,
    }

    told = await list_medicines(statement)

    assert f", {status}," in find_text(told, "MedicationStatement/s")
    assert f"1 medicine entry: 1 {status}." in told["summary"]


async def test_only_the_statuses_that_are_asked_for_are_listed_and_the_others_counted():
    text = make_bundle(
        make_medication_request("a", "A"),
        make_medication_request("b", "B", "on-hold"),
        make_medication_request("c", "C", "stopped"),
    )

    told = await list_medicines(text, status=["stopped", "active"])

    named = [claim["source"].partition("/")[2] for claim in told["claims"]]
    assert named == ["a", "c"]
    assert "Not listed, because their status was not asked for: 1 on-hold." in told["gaps"]
