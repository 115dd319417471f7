"""Traces for the report's tests: a wide plan of any size, and one whose texts attack the page."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from graph.runs.trace import build_trace
from nodes.telemetry.cost import measure_latency
from state import Plan, Report

Json = dict[str, Any]

ATTACKS = (
    "<img src=x onerror=\"document.body.dataset.hacked='img'\">",
    "</script><script>document.body.dataset.hacked='script'</script>",
    "<svg onload=\"document.body.dataset.hacked='svg'\"><!--",
    "</title><base href=//evil.example><meta http-equiv=refresh content=0;url=//evil.example>",
    "[link](javascript:document.body.dataset.hacked='link') ![picture](http://evil.example/x.png)",
    "right \u202eto left\u202c and \u0000\u001b[31m control \u200b\U000e0041 tags \ud800",
    "constructor __proto__ toString",
)
CALL: Json = {"model": "small", "tier": "fast", "tries": 1}
TOKENS: Json = {"input_tokens": 900, "output_tokens": 200, "cost_usd": 0.001}
"""Of one model call."""
WORDS = "Compare the coffees of the list by price, origin and taste, with the source of each. "


def make_wide_trace(count: int, *, output_chars: int = 700, seed: int = 1) -> Json:
    """Return the trace of a plan of many tasks, of which some failed, were tried again or skipped.

    Args:
        count: of the tasks.
        output_chars: of the text of each report.
    """
    chance = random.Random(seed)
    tasks = [_make_task(number, count, chance) for number in range(count)]
    reports, events = _run_tasks(tasks, output_chars, chance)
    plan = {"goal": "Compare the coffees.", "tasks": tasks, "version": 1}
    return build_trace(_frame_events(plan, reports, events, count))


def make_hostile_trace() -> Json:
    """Return the trace of a run in which each text is an attack."""
    every = " ".join(ATTACKS)
    tasks: list[Json] = [
        {"id": attack[:60], "description": attack, "worker": attack[:40], "depends_on": []}
        for attack in ATTACKS
    ]
    events: list[Json] = [
        {"run": {"thread": every, "team": every, "started": every}},
        _make_event("request", 0, request=every, team=every, models={every: every}),
        _make_event("plan_created", 0.1, plan={"goal": every, "tasks": tasks, "version": 1}),
    ]
    for task in tasks:
        name, text = task["id"], task["description"]
        report = _make_report(task, 0.2, 1.0, f"{text}\n{'x' * 1_000_000}")
        report |= {"claims": [{"text": text, "source": text, "quote": text}], "gaps": [text]}
        if task is tasks[-1]:
            report |= {"status": "failed", "error": every, "taint_labels": [text]}
        events += [
            _make_event("task_started", 0.2, name, worker=text, attempt=1, rung=text),
            _make_event("tool_call", 0.5, name, tool=text, args={text: text}, result=text),
            _make_event("report", 1.0, name, report=report),
        ]
    answer = {"text": every, "gaps": [every], "sources": [every]}
    ended: Json = {
        "usage": {"by_worker": {every: {}}},
        "timing": {
            "wall_s": 2.0,
            "planning_s": 0.1,
            "critical_path_s": 1.0,
            "critical_path": ["supervisor", tasks[0]["id"], "synthesizer"],
            "bounded_by": every,
        },
    }
    return build_trace([*events, _make_event("answer", 2, answer=answer, status="done", **ended)])


def _make_event(kind: str, t: float, task: str = "", **fields: Any) -> Json:
    return {"t": t, "kind": kind, "task": task, "worker": "", **fields}


def _make_task(number: int, count: int, chance: random.Random) -> Json:
    layer = max(1, count // 6)
    before = range(max(0, number - 2 * layer), number - layer) if number >= layer else range(0)
    needs = chance.sample(before, min(2, len(before)))
    return {
        "id": f"task_{number}",
        "description": f"Item {number}. {WORDS}",
        "worker": f"worker_{chance.randrange(6)}",
        "depends_on": [
            {"task": f"task_{need}", "required": chance.random() < 0.5} for need in sorted(needs)
        ],
    }


def _run_tasks(
    tasks: Sequence[Json], output_chars: int, chance: random.Random
) -> tuple[dict[str, Json], list[Json]]:
    """Return the reports of a run in which each task begins when it can, and its events."""
    ended: dict[str, tuple[float, bool]] = {}
    reports: dict[str, Json] = {}
    events: list[Json] = []
    for task in tasks:
        needs = [(*ended[need["task"]], need["required"]) for need in task["depends_on"]]
        ready_s = max((end_s for end_s, _, _ in needs), default=1.0) + chance.random() / 5
        if any(required and not is_done for _, is_done, required in needs):
            ended[task["id"]] = ready_s, False
            events.append(_make_event("task_skipped", ready_s, task["id"], reason="no result"))
            continue
        end_s = ready_s + 0.5 + 3 * chance.random()
        report = _make_report(task, ready_s, end_s, (WORDS * 100)[:output_chars])
        report["usage"] = {"model_calls": 2, **{key: 2 * value for key, value in TOKENS.items()}}
        if chance.random() < 0.04:
            report |= {"status": "failed", "error": "no source names it"}
        ended[task["id"]] = end_s, report["status"] == "completed"
        reports[task["id"]] = report
        events += _list_task_events(task, report, chance)
    return reports, events


def _list_task_events(task: Json, report: Json, chance: random.Random) -> list[Json]:
    name, start_s, end_s = task["id"], report["started_s"], report["ended_s"]
    seconds, fields = (end_s - start_s) / 4, {"worker": task["worker"]}
    call = {**CALL, **TOKENS, "schema": "Report", "purpose": "report", "seconds": seconds}
    again = (
        [_make_event("task_started", start_s + seconds, name, attempt=2, rung="refine", **fields)]
        if chance.random() < 0.1
        else []
    )
    return [
        _make_event("task_started", start_s, name, attempt=1, tier="fast", rung="", **fields),
        _make_event("model_call", start_s + seconds, name, **call, **fields),
        *again,
        _make_event("tool_call", end_s - seconds, name, tool="search", seconds=seconds / 2)
        | {"args": {"query": WORDS}, "result": WORDS * 5, "error": None, **fields},
        _make_event("model_call", end_s, name, **call, **fields),
        _make_event("report", end_s, name, report=report, **fields),
    ]


def _make_report(task: Mapping[str, Any], start_s: float, end_s: float, output: str) -> Json:
    claim = {"text": WORDS, "source": "coffees.csv", "quote": WORDS, "confidence": 80}
    return {
        "task": task["id"],
        "worker": task["worker"],
        "status": "completed",
        "output": output,
        "claims": [claim],
        "confidence": 80,
        "started_s": start_s,
        "ended_s": end_s,
    }


def _frame_events(
    plan: Json, reports: Mapping[str, Json], events: list[Json], count: int
) -> list[Json]:
    """Return the log of a run: its request, its plan, what its tasks did, its answer."""
    last_s = max(event["t"] for event in events)
    timing = measure_latency(
        Plan.model_validate(plan),
        {name: Report.model_validate(report) for name, report in reports.items()},
        asked_s=0.0,
        planned_s=1.0,
        ended_s=last_s + 1,
    )
    events += [
        _make_event("model_call", 0.9, **CALL, **TOKENS, purpose="plan", seconds=0.8),
        _make_event("model_call", last_s + 0.9, **CALL, **TOKENS, purpose="answer", seconds=0.8),
    ]
    calls = [event for event in events if event["kind"] == "model_call"]
    sums = {key: sum(call[key] for call in calls) for key in TOKENS}
    usage = {"model_calls": len(calls), **sums}
    answer = _make_event("answer", last_s + 1, answer={"text": WORDS}, status="partial")
    return [
        {"run": {"thread": "wide", "team": "buyers", "started": "2026-05-04T10:00:00+00:00"}},
        _make_event("request", 0.0, request=f"Compare {count} coffees", models={"fast": "small"}),
        *sorted([*events, _make_event("plan_created", 1.0, plan=plan)], key=lambda each: each["t"]),
        answer | {"timing": timing.model_dump(mode="json"), "usage": usage},
    ]
