"""The shipped team code_review on its example, with the embedded model."""

import re
from pathlib import Path

import pytest

from nodes.text.markdown import format_answer
from tests.team_runs import run_team

pytestmark = pytest.mark.slow

TEAM = "code_review"
EXAMPLE = Path(__file__).parents[2] / "teams" / "code_review" / "sample"
LENSES = {"security", "bugs", "performance", "style", "history"}
FLAWS = [
    ("parcels/labels.py", "subprocess.run", "high", "shell=True"),
    ("parcels/labels.py", "Note to the reviewer", "low", "Line too long"),
    ("parcels/store.py", "SELECT number", "high", "injection"),
    ("parcels/store.py", "SELECT number", "low", "Line too long"),
    ("parcels/store.py", "seen=[]", "medium", "mutable"),
    ("parcels/store.py", "except:", "medium", "Never catch with a bare except"),
    ("parcels/store.py", "print(", "info", "Never use `print`"),
    ("parcels/store.py", "assert (", "high", "always `True`"),
    ("parcels/tracking.py", "ARCHIVE_KEY", "critical", "AWS access key"),
    ("parcels/tracking.py", "time.sleep", "high", "time.sleep"),
    ("parcels/tracking.py", "verify=False", "high", "Certificates"),
    ("parcels/tracking.py", "is 200", "high", "=="),
    ("parcels/tracking.py", "!= None", "low", "None"),
]
"""What was put into the example: file, words of the line, severity, words of the finding."""


def list_new_lines(diff: str) -> dict[tuple[str, int], str]:
    """Number the lines of the new files, by nothing but the heads of the hunks."""
    found, path, number = dict[tuple[str, int], str](), "", 0
    for line in diff.splitlines():
        if line.startswith("+++ "):
            path = line[6:]
        elif head := re.match(r"@@ -\S+ \+(\d+)", line):
            number = int(head[1])
        elif line[:1] in ("+", " ") and path:
            found[path, number] = line[1:] if line[0] == "+" else ""
            number += 1
    return found


async def test_every_flaw_of_the_example_is_found_at_its_line_and_nothing_else():
    lines = list_new_lines((EXAMPLE / "change.diff").read_text())

    outcome, answer, events = await run_team(TEAM, "Review this change", EXAMPLE)

    assert outcome.exit_code == 0
    seen = [
        flaw
        for finding in answer.findings
        for flaw in FLAWS
        if flaw[0] == finding.file
        and flaw[1] in lines[finding.file, finding.line or 0]
        and flaw[2] == finding.severity
        and flaw[3] in f"{finding.message} {finding.suggestion}"
    ]
    assert sorted(seen) == sorted(FLAWS) and len(answer.findings) == len(FLAWS)
    assert all((finding.confidence or 0) >= 80 for finding in answer.findings)
    ranks = [finding.severity for finding in answer.findings]
    assert ranks == sorted(ranks, key=("critical", "high", "medium", "low", "info").index)
    assert answer.sources == ("change.diff",)
    # Five lenses are planned at once, and what two of them found is one finding.
    assert outcome.plan is not None and outcome.plan.measure_depth() == 1
    assert {task.worker for task in outcome.plan.tasks} == LENSES
    assert not [event for event in events if event["kind"] == "plan_rejected"]
    (bare,) = [each for each in answer.findings if "bare" in each.message]
    assert bare.reporters == ("bugs", "style")
    shown = format_answer(answer.model_dump(mode="json"))
    assert "- **critical** `parcels/tracking.py:9` An AWS access key" in shown
    assert "AKIA" not in shown
    gaps = shown.split("**Gaps**")[1]
    assert "web/track.js" in gaps and "SUPERVISE_REPOSITORY" in gaps
    assert "as the carriers spell them" in gaps
