"""Findings weighed as risks."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.errors import ToolRefused
from nodes.tools.framework.argument_types import ReportedFinding
from teams.contract_review.tools.risk_matrix import IMPACTS, rank_risks, risk_matrix

SEVERITIES = st.sampled_from(["critical", "high", "medium", "low", "info"])


def make_finding(severity: str, message: str, **more: Any) -> dict[str, Any]:
    return {"severity": severity, "message": message, "file": "a.txt", **more}


async def weigh_findings(*findings: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = await risk_matrix.ainvoke({"findings": list(findings)})
    return found


async def test_risks_are_ranked_by_likelihood_times_impact_and_drawn():
    found = await weigh_findings(
        make_finding(
            "medium", "Renewal (clause 2). Bound again. [renewal 4/5]", line=3, suggestion="Ask."
        ),
        make_finding("critical", "Steering (clause 3). [steering 4/5]"),
        make_finding("low", "Notices missing. [notices 1/5]"),
    )

    rows = [
        line
        for line in found["summary"].splitlines()
        if line.startswith(("| 1 |", "| 2 |", "| 3 |"))
    ]
    assert rows[0] == "| 1 | Steering (clause 3). | a.txt | 4 | 5 | 20 | extreme |  |"
    assert rows[1].startswith("| 2 | Renewal (clause 2). Bound again. | a.txt line 3 | 4 | 3 | 12 ")
    assert rows[2] == "| 3 | Notices missing. | a.txt | 1 | 2 | 2 | low |  |"
    assert "| 4 likely |  |  | 2 |  | 1 |" in found["summary"]
    assert "| 1 rare |  | 3 |  |  |  |" in found["summary"]
    assert found["levels"] == {"extreme": 1, "high": 1, "low": 1}
    assert found["claims"][0]["source"] == "a.txt"


async def test_a_finding_without_a_rule_is_taken_for_possible():
    found = await weigh_findings(make_finding("high", "Somebody must be asked."))

    assert "| 3 | 4 | 12 | high |" in found["summary"]


async def test_a_finding_that_is_given_twice_is_one_risk():
    found = await weigh_findings(*[make_finding("high", "Renewal. [renewal 4/5]")] * 3)

    assert found["summary"].startswith("1 risk: 1 extreme")


async def test_without_findings_there_is_no_risk_to_rank():
    found = await weigh_findings()

    assert found["summary"].startswith("No risk to rank") and not found["claims"]


async def test_without_findings_of_a_check_that_did_not_end_nothing_is_ranked():
    with pytest.raises(ToolRefused, match="did not run to its end: check failed: took too long"):
        await risk_matrix.ainvoke({"findings": [], "lacking": ["check failed: took too long"]})


async def test_risks_of_a_check_that_did_part_of_its_work_may_not_be_all():
    found = await risk_matrix.ainvoke(
        {"findings": [make_finding("low", "x [x 2/5]")], "lacking": ["check lacks: b.txt"]}
    )

    assert found["failures"] == ["there may be more risks than these: check lacks: b.txt"]


async def test_many_long_risks_are_shown_as_far_as_an_agent_reads_them():
    long = [
        make_finding("low", f"{n} {'x' * 200} [x 2/5]", suggestion="y" * 200) for n in range(60)
    ]

    found = await weigh_findings(*long)

    assert len(json.dumps(found)) < 20_000
    assert found["gaps"][-1] == "Only the 25 highest of 60 risks are shown"
    assert found["levels"]["low"] == 60


async def test_a_table_cannot_be_broken_by_what_a_finding_says():
    found = await weigh_findings(make_finding("high", "a | b\n| c | [x 2/5]", suggestion="d | e"))

    assert "| 1 | a \\| b \\| c \\| |" in found["summary"] and "d \\| e |" in found["summary"]


@given(st.lists(st.tuples(SEVERITIES, st.integers(1, 5)), max_size=30))
def test_scores_fall_and_follow_from_likelihood_and_impact(given_findings):
    findings = [
        ReportedFinding.model_validate(make_finding(severity, f"{n} [r {likelihood}/5]"))
        for n, (severity, likelihood) in enumerate(given_findings)
    ]

    risks = rank_risks(findings)

    expected = sorted((IMPACTS[s] * n for s, n in given_findings), reverse=True)
    assert [risk.score for risk in risks] == expected
