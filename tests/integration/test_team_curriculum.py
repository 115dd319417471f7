"""The shipped team on its example, with the embedded model: what stands in the answer holds."""

import zipfile
from pathlib import Path

import pytest

from tests.team_runs import run_team

pytestmark = pytest.mark.slow

TEAM = "curriculum"
EXAMPLE = Path(__file__).parents[2] / "teams" / "curriculum" / "sample"
COURSE = (
    "Plan this course at 3 hours a week: put the topics in order, check the objectives and see "
    "whether the texts fit grade 7"
)


async def test_the_example_is_planned_by_three_workers_at_once():
    outcome, _, events = await run_team(TEAM, COURSE, EXAMPLE)

    assert outcome.exit_code == 0 and outcome.status == "done"
    assert outcome.plan is not None and outcome.answer is not None
    assert sorted(task.worker for task in outcome.plan.tasks) == [
        "objective_reviewer",
        "reading_reviewer",
        "sequencer",
    ]
    assert outcome.plan.measure_depth() == 1
    assert "plan_rejected" not in {event["kind"] for event in events}
    for fact in (
        "23.5 hours, 8 weeks (3 hours a week)",
        "| 12 | Growing experiment | 6 | Plant growth, Flowers and seeds | 3 | 7 to 8 |",
        "| Design an experiment that shows whether seeds need light. | design | create |",
        "Target: grade 7.",
    ):
        assert fact in outcome.answer.text
    assert set(outcome.answer.sources) == {path.name for path in EXAMPLE.iterdir() if path.suffix}
    assert not outcome.answer.contradictions
    lines = (EXAMPLE / "objectives.md").read_text().splitlines()
    found = [(f.severity, f.file, f.line) for f in outcome.answer.findings]
    assert {line for _, file, line in found if file == "objectives.md"} == {8, 14, 16, 23}
    assert all(
        lines[finding.line - 1].removeprefix("- ") in finding.message
        for finding in outcome.answer.findings
        if finding.file == "objectives.md" and finding.line
    )
    assert ("low", "topics.csv", None) in found
    assert any(file == "reading_photosynthesis.md" for _, file, _ in found)


async def test_a_syllabus_is_written_as_a_word_document():
    outcome, _, _ = await run_team(
        TEAM, "Write the syllabus of the course as a Word document", EXAMPLE
    )

    assert outcome.status == "partial" and outcome.answer is not None
    assert any("needs a language model" in gap for gap in outcome.answer.gaps)
    (path,) = (word.rstrip(".") for word in outcome.answer.text.split() if ".docx" in word)
    assert zipfile.is_zipfile(path)
