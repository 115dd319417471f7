"""Judged synthesis and the critic, on the compiled graph against the endpoint."""

from pathlib import Path
from typing import Any

import pytest

from graph import load_team
from graph.settings import Settings
from nodes.schemas.team import Worker
from tests.endpoint import Fault, Scenario, ScriptedTask
from tests.runs import Runs, select_events
from tests.teams import write_team

SAME = "Write share.md: name the market share of Acme in 2024 and its source."


def make_claim_report(text: str, source: str, **fields: Any) -> dict[str, Any]:
    claims = [{"text": text, "source": source}]
    return {"output": text, "claims": claims, "confidence": 80, **fields}


DISAGREEING = (
    ScriptedTask(id="A", report=make_claim_report("Acme's market share in 2024 was 31 %.", "a.md")),
    ScriptedTask(
        id="B", report=make_claim_report("The market share of Acme in 2024 is 24 %.", "b.md")
    ),
)
ATTEMPTS = (
    ScriptedTask(id="A", description=SAME, report=make_claim_report("31 %", "a.md", confidence=90)),
    ScriptedTask(id="B", description=SAME, report=make_claim_report("Share: 31 %, page 4", "b.md")),
)


async def test_findings_are_merged_filtered_and_ranked(runs: Runs):
    low = {"severity": "low", "message": "Unused import os", "file": "a.py", "line": 1}
    sql = {"severity": "high", "file": "a.py", "line": 40}
    one = {"output": "x", "findings": [low, {**sql, "message": "SQL injection in the query"}]}
    words = "The query is open to injection of SQL"
    two = {"output": "y", "findings": [{**sql, "line": 42, "message": words, "confidence": 95}]}
    two["findings"] = [*two["findings"], {**low, "line": 9, "message": "Odd", "confidence": 50}]
    tasks = (ScriptedTask(id="A", report=one), ScriptedTask(id="B", report=two))

    state, _ = await runs.play(Scenario(tasks=tasks))

    found = state["answer"].findings
    assert [(each.severity, each.reporters) for each in found] == [
        ("high", ("A", "B")),
        ("low", ("A",)),
    ]
    assert found[0].confidence == 95
    asked = str(runs.select_calls(schema="Answer")[0].body["messages"])
    assert "Odd" not in asked and asked.count("SQL") == 1


@pytest.mark.parametrize(
    "verdict",
    [
        "I would rather not say.",
        {"rulings": [{"pair": 1, "holds": "undecided", "reason": "no dates"}]},
        None,
    ],
    ids=["prose", "undecided", "the judge fails"],
)
async def test_a_judge_without_a_usable_ruling_leaves_it_undecided(runs: Runs, verdict: Any):
    refused = () if verdict else (Fault(kind="content_filter", schema="Verdict"),)
    scenario = Scenario(tasks=DISAGREEING, answers={"Verdict": verdict or {}}, faults=refused)

    state, _ = await runs.play(scenario)

    (found,) = state["answer"].contradictions
    assert found.verdict.startswith("cannot decide: ")
    assert state["status"] == "done"
    assert state["answer"].confidence == 70


async def test_claims_that_do_not_contradict_are_no_contradiction(runs: Runs):
    both = {"rulings": [{"pair": 1, "holds": "both", "reason": "two markets"}]}

    state, _ = await runs.play(Scenario(tasks=DISAGREEING, answers={"Verdict": both}))

    assert state["answer"].contradictions == ()
    assert state["answer"].confidence == 80


@pytest.mark.parametrize("verdict", ["A, surely.", {"best": "Z"}, {}])
async def test_a_judge_that_names_no_attempt_leaves_the_most_confident(runs: Runs, verdict: Any):
    scenario = Scenario(tasks=ATTEMPTS, aggregation="select", answers={"Verdict": verdict})

    state, events = await runs.play(scenario)

    (judged,) = select_events(events, "judged")
    assert judged["best"] == "A" and judged["reason"].startswith("the most confident attempt")
    assert state["status"] == "done"


async def test_an_only_complete_attempt_is_taken_without_asking(runs: Runs):
    lost = ScriptedTask(id="A", description=SAME, report={"status": "failed", "output": "no"})
    scenario = Scenario(tasks=(lost, ATTEMPTS[1]), aggregation="select")

    state, _ = await runs.play(scenario, max_attempts=1)

    assert not runs.select_calls(schema="Verdict")
    assert state["status"] == "done"


async def test_results_beyond_the_context_are_summarised_until_they_fit(runs: Runs):
    tasks = tuple(ScriptedTask(id=f"t{n}", report={"output": f"{n} " * 600}) for n in range(6))
    summary = {"text": "In short.", "sources": []}

    state, events = await runs.play(
        Scenario(tasks=tasks, answers={"Answer": summary}), max_synthesis_chars=3_000
    )

    stages = [
        event for event in select_events(events, "synthesized") if event.get("stage") == "reduce"
    ]
    calls = runs.select_calls(schema="Answer")
    assert len(stages) == len(calls) - 1 >= 3
    assert len(str(calls[-1].body["messages"])) < 6_000
    assert state["usage"].model_calls == len(runs.requests)
    assert state["status"] == "done"


async def test_results_that_cannot_be_summarised_are_cut_and_the_gap_is_named(runs: Runs):
    tasks = tuple(ScriptedTask(id=f"t{n}", report={"output": f"{n} " * 600}) for n in range(6))
    fault = Fault(kind="content_filter", schema="Answer", nth=(1,))

    state, _ = await runs.play(Scenario(tasks=tasks, faults=(fault,)), max_synthesis_chars=3_000)

    assert state["status"] == "partial"
    assert any("were cut, not summarised" in gap for gap in state["answer"].gaps)


async def test_a_reason_that_several_tasks_share_is_reported_once(runs: Runs):
    back = {"status": "escalated", "escalation": {"reason": "out_of_scope", "message": "no diff"}}
    tasks = tuple(ScriptedTask(id=name, report=back) for name in ("A", "B"))

    state, _ = await runs.play(Scenario(tasks=tasks), ladder=("refine",))

    assert state["answer"].gaps[0] == "A, B could not do it (out of scope): no diff"


@pytest.mark.parametrize("switch", ["off", "on", "below", "'on'"])
def test_a_team_file_switches_judge_and_critic(switch: str, tmp_path: Path):
    keys = f"description: Two.\ncritic: {switch}\njudge: false\nmax_critic_rounds: 2"

    found = load_team(write_team(tmp_path, keys, worker="description: Works."), Settings())

    assert found.critic == switch.strip("'")
    assert (found.judge, found.max_critic_rounds) == (False, 2)


async def test_the_notices_of_those_who_had_a_part_end_the_answer_before_the_teams(runs: Runs):
    back = {"status": "escalated", "escalation": {"reason": "out_of_scope", "message": "no law"}}
    tasks = (
        ScriptedTask(id="A", worker="doctor"),
        ScriptedTask(id="B", worker="lawyer", report=back),
        ScriptedTask(id="C", worker="doctor"),
    )
    workers = tuple(
        Worker(name=name, description=name, instructions="Work.", notice=f"A {name} decides.")
        for name in ("doctor", "lawyer")
    )

    state, _ = await runs.play(Scenario(tasks=tasks), workers=workers, notice="Check.", ladder=())

    assert state["answer"].text.endswith("\n\nA doctor decides.\n\nCheck.")
    assert "lawyer decides" not in state["answer"].text
    assert state["answer"].text.count("A doctor decides.") == 1


async def test_a_result_that_was_not_fixed_is_used_again(runs: Runs):
    refusal = {"accepted": False, "send_back": [{"task": "A", "fix": "More."}]}
    reports = [{"output": "good"}, {"status": "failed", "output": "worse"}]
    scenario = Scenario(
        tasks=(ScriptedTask(id="A", report=reports),), answers={"Critique": refusal}
    )

    state, _ = await runs.play(scenario, critic="on", max_attempts=1)

    assert "good" in str(runs.select_calls(schema="Answer")[-1].body["messages"])
    assert any("its first result is used" in gap for gap in state["answer"].gaps)
