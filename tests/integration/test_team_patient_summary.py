"""The shipped team on its example, with the embedded model: what stands in the answer holds."""

import pytest

from tests.team_runs import run_team
from tests.unit.tools.fhir_samples import EXAMPLE, EXAMPLES, read_resources

pytestmark = pytest.mark.slow

TEAM = "patient_summary"
SUMMARY = "Write a clinical summary of the patient in this FHIR bundle"
NOTICE = "It is not a diagnosis and no advice on treatment"


async def test_the_example_is_summarised_by_four_workers_at_once():
    outcome, _, events = await run_team(TEAM, SUMMARY, EXAMPLE)

    assert outcome.exit_code == 0 and outcome.status == "done"
    assert outcome.plan is not None and outcome.answer is not None
    assert {task.worker for task in outcome.plan.tasks} == {
        "archivist",
        "lab_analyst",
        "medication_reviewer",
        "date_checker",
    }
    assert outcome.plan.measure_depth() == 1
    assert "plan_rejected" not in {event["kind"] for event in events}
    for fact in (
        "Type 2 diabetes mellitus (SNOMED CT 44054006): active, since 2017-03-14",
        "reaction: Urticaria (moderate)",
        "| Hemoglobin A1c (4548-4) | 8.4 % on 2023-08-03 | 6.8 % on 2025-09-16 | falling |",
        "Ramipril (ATC C09AA05): 5 mg in the morning, stopped",
        NOTICE,
    ):
        assert fact in outcome.answer.text
    held = read_resources(EXAMPLE)
    used = {name for name in held if not name.startswith("Practitioner")}
    left_out = {"Condition/migraine", "Observation/sodium-2025-09", "Observation/tsh-undated"}
    assert set(outcome.answer.sources) == {f"{EXAMPLE.name}#{name}" for name in used - left_out}
    assert {finding.file for finding in outcome.answer.findings} <= set(outcome.answer.sources)
    gaps = "\n".join(outcome.answer.gaps)
    assert all(name in gaps for name in left_out)
    assert not outcome.answer.contradictions  # of values of several days


async def test_records_of_two_patients_in_two_files_stay_apart():
    outcome, _, _ = await run_team(TEAM, SUMMARY, EXAMPLE, EXAMPLES / "hard_cases" / "sparse.json")

    assert outcome.status == "done" and outcome.answer is not None
    parts = outcome.answer.text.split("**Patient:** ")[1:]
    assert [part.split(",")[0] for part in parts] == ["Ines Beispiel", "Otto Probe"] * 4
    assert not any("Metformin" in part for part in parts if part.startswith("Otto"))
    assert not any("Glucose" in part for part in parts if part.startswith("Ines"))
    # The second record holds no ranges, and instructions, which are only quoted.
    gaps = "\n".join(outcome.answer.gaps)
    assert "No reference range and no interpretation: Glucose." in gaps
    assert not [finding for finding in outcome.answer.findings if "Glucose" in finding.message]
    lines = [line for line in outcome.answer.text.splitlines() if "healthy" in line]
    assert lines and all(line.endswith("(Condition/note)") for line in lines)
    assert not outcome.answer.contradictions
