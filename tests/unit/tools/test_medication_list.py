"""The medication list: by status, with doses and dates as the bundle has them, duplicates named."""

from typing import Any

import pytest

from teams.patient_summary.tools.medication_list import medication_list
from tests.unit.tools.fhir_samples import (
    EXAMPLE,
    SUBJECT,
    make_bundle,
    make_dosage,
    make_medication_request,
    make_quantity,
    read_resources,
)

pytestmark = pytest.mark.slow


async def list_medicines(text: str) -> dict[str, Any]:
    asked = {"material": "b.json", "question": "List the medication", "materials": {"b.json": text}}
    result = await medication_list.ainvoke(asked)
    assert isinstance(result, dict)
    return result


def list_lines_under(result: dict[str, Any], title: str) -> list[str]:
    parts = result["summary"].split("\n### ")
    (part,) = (part for part in parts if part.startswith(title))
    return [line for line in part.splitlines() if line.startswith("- ")]


async def test_each_medicine_of_the_example_stands_under_its_own_status_with_its_own_dose():
    result = await list_medicines(EXAMPLE.read_text())

    held = read_resources(EXAMPLE)
    medicines = {name: held[name] for name in held if name.startswith("Medication")}
    assert {claim["source"] for claim in result["claims"]} == {
        f"b.json#{name}" for name in medicines
    }
    for name, resource in medicines.items():
        (line,) = (
            line
            for line in list_lines_under(result, resource["status"].title())
            if f"({name})" in line
        )
        dosage = (resource.get("dosageInstruction") or resource.get("dosage") or [{}])[0]
        assert resource["medicationCodeableConcept"]["text"] in line
        assert dosage.get("text", "no dose stated") in line
        bounds = dosage.get("timing", {}).get("repeat", {}).get("boundsPeriod", {})
        for day in (*bounds.values(), resource.get("authoredOn", "")):
            assert day in line
    assert "reason: Dry cough" in list_lines_under(result, "Stopped")[0]


async def test_current_duplicates_of_the_example_are_findings():
    result = await list_medicines(EXAMPLE.read_text())

    found = {finding["file"]: finding for finding in result["findings"]}
    assert set(found) == {
        "b.json#MedicationRequest/atorvastatin-40",
        "b.json#MedicationStatement/metformin-own",
    }
    assert found["b.json#MedicationRequest/atorvastatin-40"]["severity"] == "medium"
    assert found["b.json#MedicationStatement/metformin-own"]["severity"] == "low"
    assert "20 mg in the evening" in found["b.json#MedicationRequest/atorvastatin-40"]["message"]


async def test_a_stopped_medicine_is_no_duplicate_and_words_alone_can_tell_one():
    result = await list_medicines(
        make_bundle(
            make_medication_request("a", "Aspirin"),
            make_medication_request("b", "aspirin"),
            make_medication_request("c", "Aspirin", "stopped"),
            make_medication_request("d", "Paracetamol"),
        )
    )

    assert [finding["file"] for finding in result["findings"]] == ["b.json#MedicationRequest/b"]
    assert any("No code, only words" in gap for gap in result["gaps"])


async def test_a_medicine_is_found_by_its_reference():
    substance = {"resourceType": "Medication", "id": "m", "code": {"text": "Aspirin"}}
    inside = {"medicationReference": {"reference": "Medication/m"}}
    lost = {"medicationReference": {"reference": "Medication/n", "display": "Some pill"}}
    made = [
        make_medication_request(name, "") | fields for name, fields in (("a", inside), ("b", lost))
    ]
    for each in made:
        del each["medicationCodeableConcept"]

    result = await list_medicines(make_bundle(substance, *made))

    assert "- Aspirin: no dose stated" in result["summary"]
    assert "- Some pill: no dose stated" in result["summary"]


async def test_a_structured_dose_is_reported_as_such_and_one_in_words_is_quoted_whole():
    timing = {"repeat": {"frequency": 2, "period": 1, "periodUnit": "d"}}
    dose = {"doseAndRate": [{"doseQuantity": make_quantity(500, "mg")}], "timing": timing}
    long = "Take one tablet " + "very carefully " * 20

    result = await list_medicines(
        make_bundle(
            make_medication_request(
                "a", "A", dosageInstruction=[{**dose, "asNeededBoolean": True}]
            ),
            make_medication_request("b", "B", **make_dosage(long)),
        )
    )

    assert (
        "500 mg, 2 x per 1 d, as needed (from its fields, which may say more)" in result["summary"]
    )
    assert " ".join(long.split()) in result["summary"]


async def test_a_prescriptions_validity_is_not_taken_for_the_time_of_taking():
    valid = {"validityPeriod": {"start": "2024-01-01", "end": "2024-12-31"}}

    result = await list_medicines(
        make_bundle(make_medication_request("a", "A", dispenseRequest=valid))
    )

    assert "prescription valid from 2024-01-01 until 2024-12-31" in result["summary"]


async def test_missing_dose_date_and_list_are_gaps():
    result = await list_medicines(make_bundle(make_medication_request("a", "A")))
    nothing = await list_medicines(make_bundle())

    assert "No dose is stated: MedicationRequest/a." in result["gaps"]
    assert "No date is stated: MedicationRequest/a." in result["gaps"]
    assert "No medicines are recorded." in nothing["summary"]
    assert "that does not mean that nothing is taken" in nothing["gaps"][0]


@pytest.mark.parametrize("status", ["on-hold", "draft", "not-taken", "unknown"])
async def test_every_status_has_its_own_heading(status):
    statement = {
        "resourceType": "MedicationStatement",
        "id": "s",
        "status": status,
        "medicationCodeableConcept": {"text": "A"},
        "subject": SUBJECT,
    }

    result = await list_medicines(make_bundle(statement))

    assert result["summary"].count("###") == 1
    assert f", {status}," in result["summary"] and "### Active" not in result["summary"]
