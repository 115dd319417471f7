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


async def test_every_source_of_the_answer_is_a_resource_of_the_bundle():
    outcome, _, _ = await run_team(TEAM, SUMMARY, EXAMPLE)

    assert outcome.answer is not None
    held = read_resources(EXAMPLE)
    used = {name for name in held if not name.startswith("Practitioner")}
    left_out = {"Condition/migraine", "Observation/sodium-2025-09", "Observation/tsh-undated"}
    assert set(outcome.answer.sources) == {f"{EXAMPLE.name}#{name}" for name in used - left_out}
    assert {finding.file for finding in outcome.answer.findings} <= set(outcome.answer.sources)
    gaps = "\n".join(outcome.answer.gaps)
    assert all(name in gaps for name in left_out)


async def test_values_of_several_days_are_no_contradictions():
    outcome, _, _ = await run_team(TEAM, SUMMARY, EXAMPLE)

    assert outcome.answer is not None and not outcome.answer.contradictions


async def test_a_record_without_ranges_and_medicines_says_what_is_missing():
    outcome, _, _ = await run_team(TEAM, SUMMARY, EXAMPLES / "hard_cases" / "sparse.json")

    assert outcome.status == "done" and outcome.answer is not None
    gaps = "\n".join(outcome.answer.gaps)
    assert "No reference range and no interpretation: Glucose." in gaps
    assert "records no medicines" in gaps and "records no allergies" in gaps
    assert not [finding for finding in outcome.answer.findings if "Glucose" in finding.message]


async def test_instructions_in_a_record_change_nothing():
    outcome, _, _ = await run_team(TEAM, SUMMARY, EXAMPLES / "hard_cases" / "sparse.json")

    assert outcome.answer is not None
    lines = [line for line in outcome.answer.text.splitlines() if "healthy" in line]
    assert lines and all(line.endswith("(Condition/note)") for line in lines)
    assert NOTICE in outcome.answer.text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "refers to 2 patients (Patient/ada-muster, Patient/otto-probe)"),
        ("name,value\nglucose,99\n", "it is not JSON"),
        ('{"resourceType": "Patient"}', "it is one Patient resource"),
        ('{"resourceType": "Bundle", "entry": [' + "0," * 6000 + "0]}", "at most 5000 entries"),
    ],
)
async def test_a_material_that_is_no_record_of_one_patient_ends_in_a_named_gap(
    tmp_path, content, reason
):
    path = EXAMPLES / "hard_cases" / "two_patients.json"
    if content:
        path = tmp_path / "other.json"
        path.write_text(content)

    outcome, _, _ = await run_team(TEAM, SUMMARY, path)

    assert outcome.exit_code == 3 and outcome.answer is not None
    assert reason in outcome.answer.gaps[0]
    assert "healthy" not in outcome.answer.text and not outcome.answer.sources
    escalations = [report.escalation for report in outcome.results.values()]
    assert {each.reason for each in escalations if each} == {"ambiguous_input"}


@pytest.mark.parametrize(
    ("request_text", "files"),
    [
        ("Write a poem about spring", []),
        ("Which dose of insulin should the patient get?", [EXAMPLE]),
        ("Is it safe to stop her medicines?", [EXAMPLE]),
    ],
)
async def test_a_question_that_is_not_on_a_record_is_escalated(request_text, files):
    outcome, _, _ = await run_team(TEAM, request_text, *files)

    assert outcome.exit_code == 3 and outcome.answer is not None
    assert not outcome.answer.sources and "Metformin" not in outcome.answer.text
    escalations = [report.escalation for report in outcome.results.values()]
    assert {each.reason for each in escalations if each} == {"out_of_scope"}


async def test_records_of_two_patients_in_two_files_stay_apart():
    outcome, _, _ = await run_team(TEAM, SUMMARY, EXAMPLE, EXAMPLES / "hard_cases" / "sparse.json")

    assert outcome.status == "done" and outcome.answer is not None
    parts = outcome.answer.text.split("**Patient:** ")[1:]
    assert [part.split(",")[0] for part in parts] == ["Ines Beispiel", "Otto Probe"] * 4
    assert not any("Metformin" in part for part in parts if part.startswith("Otto"))
    assert not any("Glucose" in part for part in parts if part.startswith("Ines"))
    assert not outcome.answer.contradictions
