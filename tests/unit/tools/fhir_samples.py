"""Small FHIR bundles for tests, and the shipped example."""

import json
from pathlib import Path
from typing import Any, cast

from langchain_core.tools import BaseTool

EXAMPLES = Path(__file__).parents[3] / "teams" / "patient_summary" / "sample"
EXAMPLE = EXAMPLES / "ines_beispiel.json"
PATIENT = {"resourceType": "Patient", "id": "p", "name": [{"text": "Pat Probe"}]}
SUBJECT = {"reference": "Patient/p"}
UCUM = "http://unitsofmeasure.org"

Json = dict[str, Any]


def make_bundle(*resources: Json) -> str:
    """Make a bundle of one patient's resources."""
    entries = [{"resource": resource} for resource in (PATIENT, *resources)]
    return json.dumps({"resourceType": "Bundle", "type": "collection", "entry": entries})


async def ask_tool(tool: BaseTool, *held: str | Json, **arguments: Any) -> Json:
    """Call a tool on a bundle `b.json`: its text, or the resources beside the patient's own."""
    text, *others = held or [make_bundle()]
    text = text if isinstance(text, str) else make_bundle(text, *cast(list[Json], others))
    told = await tool.ainvoke({"material": "b.json", "materials": {"b.json": text}, **arguments})
    assert isinstance(told, dict)
    return told


def make_quantity(value: float | int, unit: str = "mg/dL") -> Json:
    return {"value": value, "unit": unit, "system": UCUM, "code": unit}


def make_observation(
    name: str, value: float | int | None, when: str = "", unit: str = "mg/dL", **fields: Any
) -> Json:
    """Make a glucose value; fields replace or add."""
    coding = [{"system": "http://loinc.org", "code": "2345-7", "display": "Glucose"}]
    made: Json = {
        "resourceType": "Observation",
        "id": name,
        "status": "final",
        "code": {"coding": coding, "text": "Glucose"},
        "subject": SUBJECT,
    }
    made |= {"valueQuantity": make_quantity(value, unit)} if value is not None else {}
    made |= {"effectiveDateTime": when} if when else {}
    return made | fields


def make_medication_request(
    name: str, medicine: str, status: str = "active", **fields: Any
) -> Json:
    """Make a medication request known by its words alone; fields replace or add."""
    return {
        "resourceType": "MedicationRequest",
        "id": name,
        "status": status,
        "intent": "order",
        "medicationCodeableConcept": {"text": medicine},
        "subject": SUBJECT,
        **fields,
    }


def make_dosage(text: str, start: str = "", end: str = "") -> Json:
    """Make the dosage of a request, with when it is to be taken."""
    bounds = {key: day for key, day in (("start", start), ("end", end)) if day}
    timing = {"timing": {"repeat": {"boundsPeriod": bounds}}} if bounds else {}
    return {"dosageInstruction": [{"text": text, **timing}]}


def make_condition(name: str, words: str, status: str = "active", **fields: Any) -> Json:
    return {
        "resourceType": "Condition",
        "id": name,
        "clinicalStatus": {"coding": [{"code": status}]},
        "code": {"text": words},
        "subject": SUBJECT,
        **fields,
    }


def make_encounter(name: str, start: str, end: str, kind: str = "IMP", **fields: Any) -> Json:
    return {
        "resourceType": "Encounter",
        "id": name,
        "status": "finished",
        "class": {"code": kind},
        "subject": SUBJECT,
        "period": {"start": start, "end": end},
        **fields,
    }


def read_resources(path: Path) -> dict[str, Json]:
    """Read a bundle without any of our code: name to resource, numbers as they are written."""
    entries = json.loads(path.read_text(), parse_float=str, parse_int=str)["entry"]
    held = [entry["resource"] for entry in entries]
    return {f"{resource['resourceType']}/{resource['id']}": resource for resource in held}
