"""The medication list: by status, with doses and dates as the bundle has them, duplicates named."""

from typing import Any

import pytest

from nodes.tools.medication_list import medication_list
from tests.unit.tools.fhir_samples import (
    EXAMPLE,
    SUBJECT,
    bundle,
    dosed,
    quantity,
    request,
    resources_of,
)


async def listed(text: str) -> dict[str, Any]:
    asked = {"material": "b.json", "question": "List the medication", "materials": {"b.json": text}}
    told = await medication_list.ainvoke(asked)
    assert isinstance(told, dict)
    return told


def under(told: dict[str, Any], title: str) -> list[str]:
    parts = told["summary"].split("\n### ")
    (part,) = (part for part in parts if part.startswith(title))
    return [line for line in part.splitlines() if line.startswith("- ")]


async def test_each_medicine_of_the_example_stands_under_its_own_status_with_its_own_dose():
    told = await listed(EXAMPLE.read_text())

    held = resources_of(EXAMPLE)
    medicines = {name: held[name] for name in held if name.startswith("Medication")}
    assert {claim["source"] for claim in told["claims"]} == {f"b.json#{name}" for name in medicines}
    for name, resource in medicines.items():
        (line,) = (line for line in under(told, resource["status"].title()) if f"({name})" in line)
        dosage = (resource.get("dosageInstruction") or resource.get("dosage") or [{}])[0]
        assert resource["medicationCodeableConcept"]["text"] in line
        assert dosage.get("text", "no dose stated") in line
        bounds = dosage.get("timing", {}).get("repeat", {}).get("boundsPeriod", {})
        for day in (*bounds.values(), resource.get("authoredOn", "")):
            assert day in line
    assert "reason: Dry cough" in under(told, "Stopped")[0]


async def test_current_duplicates_of_the_example_are_findings():
    told = await listed(EXAMPLE.read_text())

    found = {finding["file"]: finding for finding in told["findings"]}
    assert set(found) == {
        "b.json#MedicationRequest/atorvastatin-40",
        "b.json#MedicationStatement/metformin-own",
    }
    assert found["b.json#MedicationRequest/atorvastatin-40"]["severity"] == "medium"
    assert found["b.json#MedicationStatement/metformin-own"]["severity"] == "low"
    assert "20 mg in the evening" in found["b.json#MedicationRequest/atorvastatin-40"]["message"]


async def test_a_stopped_medicine_is_no_duplicate_and_words_alone_can_tell_one():
    told = await listed(
        bundle(
            request("a", "Aspirin"),
            request("b", "aspirin"),
            request("c", "Aspirin", "stopped"),
            request("d", "Paracetamol"),
        )
    )

    assert [finding["file"] for finding in told["findings"]] == ["b.json#MedicationRequest/b"]
    assert any("No code, only words" in gap for gap in told["gaps"])


async def test_a_medicine_is_found_by_its_reference():
    substance = {"resourceType": "Medication", "id": "m", "code": {"text": "Aspirin"}}
    inside = {"medicationReference": {"reference": "Medication/m"}}
    lost = {"medicationReference": {"reference": "Medication/n", "display": "Some pill"}}
    made = [request(name, "") | fields for name, fields in (("a", inside), ("b", lost))]
    for each in made:
        del each["medicationCodeableConcept"]

    told = await listed(bundle(substance, *made))

    assert "- Aspirin: no dose stated" in told["summary"]
    assert "- Some pill: no dose stated" in told["summary"]


async def test_a_dose_in_fields_is_told_as_such_and_one_in_words_stands_whole():
    timing = {"repeat": {"frequency": 2, "period": 1, "periodUnit": "d"}}
    dose = {"doseAndRate": [{"doseQuantity": quantity(500, "mg")}], "timing": timing}
    long = "Take one tablet " + "very carefully " * 20

    told = await listed(
        bundle(
            request("a", "A", dosageInstruction=[{**dose, "asNeededBoolean": True}]),
            request("b", "B", **dosed(long)),
        )
    )

    assert "500 mg, 2 x per 1 d, as needed (from its fields, which may say more)" in told["summary"]
    assert " ".join(long.split()) in told["summary"]


async def test_a_prescriptions_validity_is_not_taken_for_the_time_of_taking():
    valid = {"validityPeriod": {"start": "2024-01-01", "end": "2024-12-31"}}

    told = await listed(bundle(request("a", "A", dispenseRequest=valid)))

    assert "prescription valid from 2024-01-01 until 2024-12-31" in told["summary"]


async def test_missing_dose_date_and_list_are_gaps():
    told = await listed(bundle(request("a", "A")))
    nothing = await listed(bundle())

    assert "No dose is stated: MedicationRequest/a." in told["gaps"]
    assert "No date is stated: MedicationRequest/a." in told["gaps"]
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

    told = await listed(bundle(statement))

    assert told["summary"].count("###") == 1
    assert f", {status}," in told["summary"] and "### Active" not in told["summary"]
