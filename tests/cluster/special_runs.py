"""Experiments: the holder of a run of a special kind is killed.

Runs with caps, with questions to a human, with an inner team, with a revised plan.
"""

import asyncio
import time
from typing import Any, Final

from langgraph_sdk.client import LangGraphClient

from tests.cluster.cluster import TEAM
from tests.cluster.instance import Instance
from tests.cluster.stage import WAIT_S, Stage
from tests.cluster.takeovers import kill_after_reports, kill_twice
from tests.cluster.workload import (
    EndedRun,
    Expected,
    Outcome,
    StartedRun,
    build_scenario,
    count_calls,
    wait_for_end,
    wait_for_ends,
)
from tests.endpoint import Scenario, ScriptedTask

NESTED_TEAM: Final = "organisation"
DEADLINE_S: Final = 10.0
MAX_TOKENS: Final = 16_000
"""The whole run takes 18,000."""
MAX_COST_USD: Final = 0.012
"""It costs 0.0125, and 15 % are kept for the answer."""
ESTIMATE_ERROR: Final = 0.05
ASKED: Final = {"reason": "ambiguous_input", "message": "Which year?"}
ASKING: Final = {"status": "escalated", "output": "", "escalation": ASKED}
NO_BUG: Final = {
    "status": "completed",
    "output": "No bug found in the code.",
    "found_as_expected": False,
    "confidence": 90,
}
SENSELESS: Final = {"makes_sense": False, "reason": "There is no bug; a setting is wrong."}


async def keep_deadline(stage: Stage) -> Outcome:
    """Kill the holder of a run whose deadline passes before another server continues it."""
    stage.endpoint.load_scenario(build_scenario(task_s=2.5))
    run, holder = await stage.start_held(context={"deadline_s": DEADLINE_S})
    await stage.wait_for_saved(run, 2)
    killed_s, ended = await _kill_and_wait(stage, run, holder)
    late_s = run.asked_s + DEADLINE_S + 1.0
    late = sum(
        each.began_s > max(late_s, killed_s) and each.schema == "Report"
        for each in stage.endpoint.requests
    )
    outcome = _build_outcome(stage, f"kill -9, deadline of {DEADLINE_S:g} s", ended)
    outcome.expected = Expected(status="partial", tasks=None)
    outcome.more_problems += [f"{run.name}: {late} tasks begun after the deadline"] if late else []
    return outcome


async def keep_token_cap(stage: Stage, *, is_killed_twice: bool) -> Outcome:
    """Kill the holder of a run with a token cap, or also the next one."""
    if is_killed_twice:
        outcome = await kill_twice(stage, second_after=6, max_tokens=MAX_TOKENS)
    else:
        outcome = await kill_after_reports(stage, reports=4, max_tokens=MAX_TOKENS)
    spent = _count_tokens(outcome.runs[0])
    return _judge_cap(outcome, f"cap of {MAX_TOKENS:,} tokens", spent / MAX_TOKENS)


async def keep_money_cap(stage: Stage) -> Outcome:
    """Kill the holder of a run with a cap of money."""
    outcome = await kill_after_reports(stage, reports=4, max_cost_usd=MAX_COST_USD)
    usage: Any = outcome.runs[0].values.get("usage") or {}
    spent = float(usage.get("cost_usd") or 0.0)
    return _judge_cap(outcome, f"cap of {MAX_COST_USD} USD", spent / MAX_COST_USD)


def _judge_cap(outcome: Outcome, cap: str, used: float) -> Outcome:
    """Complete the outcome of a run that needs more than its cap."""
    outcome.what = f"{outcome.what}, {cap}"
    outcome.expected = Expected(status="partial", tasks=None)
    # A call may cost more than was estimated for it, so that a cap is passed by a few percent.
    outcome.more_problems += [f"{used:.0%} of the cap"] if used > 1 + ESTIMATE_ERROR else []
    outcome.notes.append(f"{used:.1%} of the cap used")
    return outcome


async def kill_while_asked(stage: Stage) -> Outcome:
    """Kill every server's memory of a run that waits for a human, then answer through another."""
    run, holder = await stage.start_held(context={"approve_plan": True})
    asked = await wait_for_end(stage.get_other_client(holder), run)
    holder.kill()
    client = stage.get_other_client(holder)
    resumed = await _answer(client, run, {"type": "approve"})
    ended = await wait_for_end(client, resumed)
    outcome = _build_outcome(stage, "kill -9 while a question waits, answer", ended)
    outcome.expected = Expected(messages=2)
    outcome.more_problems += [] if asked.status == "interrupted" else [f"asked: {asked.status}"]
    return outcome


async def repeat_answer(stage: Stage) -> Outcome:
    """Kill a server that works on an answer, when the run has asked a second question."""
    second = ScriptedTask(id="B", depends_on=("A",), report=[ASKING, {"output": "b"}])
    tasks = (
        ScriptedTask(id="A", report=[ASKING, {"output": "a"}]),
        second,
        ScriptedTask(id="C", depends_on=("A",), latency_s=4.0),
    )
    stage.endpoint.load_scenario(Scenario(tasks=tasks))
    run, holder = await stage.start_held(context={"ask_human": True})
    await wait_for_end(stage.cluster.client(0), run)
    asked = stage.count_questions(run)
    answered = await _answer(stage.cluster.client(0), run, "2024")
    holder = await stage.wait_for_holder(answered.run)
    await stage.wait_for_call("C")
    async with asyncio.timeout(WAIT_S):
        while stage.count_questions(run) == asked:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    _, waiting = await _kill_and_wait(stage, answered, holder)
    client, what = stage.get_other_client(holder), "kill -9 at work on an answer, 2nd question"
    if waiting.status != "interrupted":
        outcome = _build_outcome(stage, what, waiting)
        outcome.more_problems.append(f"{run.name}: {waiting.status}, and no second question")
        return outcome
    ended = await wait_for_end(client, await _answer(client, run, "2025"))
    outcome = _build_outcome(stage, what, ended)
    outcome.expected = Expected(tasks=3, messages=3)
    of_b = [str(each.body) for each in stage.endpoint.select_calls(schema="Report", task="B")]
    if len(of_b) != 2 or "2025" not in of_b[-1]:
        outcome.more_problems.append(f"{run.name}: B was called {len(of_b)} times")
    return outcome


async def kill_nested_team(stage: Stage) -> Outcome:
    """Kill the holder of a run one of whose tasks is done by an inner team."""
    plans = {"research": ("searcher", "checker"), "analysis": ("statistician", "calculator")}

    def build_plan(body: dict[str, Any]) -> dict[str, Any]:
        text = str(body["messages"])
        workers = next((each for each in plans.values() if f"{each[0]}:" in text), tuple(plans))
        tasks = [
            ScriptedTask(id=f"{worker}-{n}", worker=worker) for worker in workers for n in (1, 2)
        ]
        return {"goal": "Compare the parts.", "tasks": [each.to_plan_task() for each in tasks]}

    stage.endpoint.load_scenario(
        Scenario(answers={"Plan": build_plan}, latency_s={"Plan": 0.3, "Report": 0.8})
    )
    run, holder = await stage.start_held(team=NESTED_TEAM)
    await stage.wait_for_saved(run, 1, prefix="")
    saved = stage.list_saved_tasks()
    killed_s, ended = await _kill_and_wait(stage, run, holder)
    outcome = _build_outcome(stage, "kill -9 of a run with inner teams", ended)
    outcome.expected = Expected(tasks=4)
    outcome.repeated = stage.count_begun(saved, killed_s)
    return outcome


async def kill_after_revision(stage: Stage) -> Outcome:
    """Kill the holder of a run whose plan was revised beside its running tasks."""
    code = ScriptedTask(id="code", report=NO_BUG, latency_s=0.3)
    comms = ScriptedTask(
        id="comms",
        worker="writer",
        depends_on=("code",),
        description="Draft note.md for the customers: describe the bug in the code and its fix.",
    )
    setting = ScriptedTask(id="ops", worker="analyst", latency_s=2.5)
    slow = ScriptedTask(id="slow", worker="analyst", latency_s=4.0)
    plans = [
        {"goal": "Find the bug.", "tasks": [each.to_plan_task() for each in tasks]}
        for tasks in ((code, slow, comms), (code, slow, setting))
    ]
    stage.endpoint.load_scenario(
        Scenario(
            tasks=(code, comms, setting, slow), answers={"Plan": plans, "PlanReview": SENSELESS}
        )
    )
    run, holder = await stage.start_held()
    await stage.wait_for_call("ops")
    saved = stage.list_saved_tasks()
    killed_s, ended = await _kill_and_wait(stage, run, holder)
    outcome = _build_outcome(stage, "kill -9 after the plan was revised", ended)
    outcome.expected = Expected(tasks=3, plans=2)
    outcome.repeated = stage.count_begun(saved, killed_s)
    return outcome


def _count_tokens(ended: EndedRun) -> int:
    usage: Any = ended.values.get("usage") or {}
    return int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0))


async def _kill_and_wait(stage: Stage, run: StartedRun, holder: Instance) -> tuple[float, EndedRun]:
    holder.kill()
    killed_s = time.monotonic()
    [ended] = await wait_for_ends(stage.get_other_client(holder), [run])
    return killed_s, ended


async def _answer(client: LangGraphClient, run: StartedRun, reply: Any) -> StartedRun:
    asked_s = time.monotonic()
    made = await client.runs.create(run.thread, TEAM, command={"resume": reply})
    return StartedRun(run.name, run.thread, made["run_id"], asked_s)


def _build_outcome(stage: Stage, what: str, ended: EndedRun) -> Outcome:
    outcome = Outcome(what, [ended], count_calls(stage.endpoint))
    stage.endpoint.load_scenario(build_scenario())
    return outcome
