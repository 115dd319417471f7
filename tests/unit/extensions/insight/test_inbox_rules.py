"""What waits, what it blocks, and what the rules of a user answer."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from extensions.insight.inbox import (
    ACCEPTED,
    REJECTED,
    QuestionChanged,
    Rules,
    Waiting,
    read_inbox,
    require_listed,
)
from graph.runs.trace import ThreadUnknown, TraceUnreadable
from nodes.errors import UsageError

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PLAN: Any = {"id": "p", "kind": "plan", "estimate": {"cost_usd": 0.1, "high": {"cost_usd": 0.2}}}
CALL = {"id": "c", "kind": "tool_call", "tool": "send_mail", "task": "b"}
QUESTION = {"id": "q", "kind": "question", "task": "b", "question": "Which year?"}


def make_task(name: str, *needs: str, status: str = "waiting", **more: Any) -> dict[str, Any]:
    return {"id": name, "depends_on": [{"task": each} for each in needs], "status": status, **more}


def make_waiting(*questions: Any, tasks: Any = (), **fields: Any) -> Waiting:
    known: dict[str, Any] = {
        "thread": "thread-one",
        "team": "trio",
        "request": "Do it.",
        "questions": list(questions),
        "asked_at": NOW,
        "tasks": {task["id"]: task for task in tasks},
    }
    return Waiting(**{**known, **fields})


def test_a_question_blocks_its_task_and_all_that_builds_on_it():
    tasks = [
        make_task("a", status="completed"),
        make_task("b", "a", status="working"),
        make_task("d", "c"),
        make_task("c", "b"),
        make_task("e", "a", status="completed"),
    ]
    waiting = make_waiting(QUESTION, tasks=tasks)

    assert waiting.list_blocked(QUESTION) == ["b", "d", "c"]
    assert waiting.list_done() == ["a", "e"]


def test_a_question_within_a_team_blocks_the_task_that_the_team_does():
    inner = {"name": "inner", "tasks": [make_task("b", status="working")]}
    tasks = [make_task("office", status="working", team=inner), make_task("z", "office")]
    waiting = make_waiting(tasks=tasks)

    assert waiting.list_blocked(QUESTION) == ["office", "z"]
    assert waiting.list_blocked({"id": "x", "task": "office/b"}) == ["office", "z"]


def test_a_plan_that_waits_blocks_all_tasks():
    waiting = make_waiting(PLAN, tasks=[make_task("a"), make_task("b", "a")])

    assert waiting.list_blocked(PLAN) == ["a", "b"]


def test_a_clock_that_went_back_counts_as_no_time():
    ahead = datetime.now(UTC) + timedelta(days=1)

    assert make_waiting(PLAN, asked_at=ahead).measure_age_s() == 0
    assert make_waiting(PLAN, asked_at=None).measure_age_s() is None


@pytest.mark.parametrize(
    ("rules", "question", "reply"),
    [
        (Rules(), PLAN, None),
        (Rules(accept=["plan"]), PLAN, ACCEPTED),
        (Rules(accept=["tool_call:send_mail"]), CALL, ACCEPTED),
        (Rules(accept=["tool_call:send"]), CALL, None),
        (Rules(accept=["plan"]), {**PLAN, "problems": ["a reason takes a model"]}, None),
        (Rules(accept=["plan"], reject=["plan"]), PLAN, REJECTED),
        (Rules(reject=["question"]), QUESTION, REJECTED),
        (Rules(plans_below_usd=0.21), PLAN, ACCEPTED),
        (Rules(plans_below_usd=0.2), PLAN, None),
        (Rules(plans_below_usd=0.2), {**PLAN, "estimate": {"cost_usd": 0.1}}, ACCEPTED),
        (Rules(plans_below_usd=9.0), CALL, None),
        (Rules(accept=["plan"]), {"id": "x", "kind": "confirm"}, None),
    ],
)
def test_a_rule_is_about_its_kind_of_question_alone(rules: Rules, question: Any, reply: Any):
    assert rules.decide(question) == reply


@pytest.mark.parametrize("estimate", [None, {}, {"cost_usd": None}, {"high": {"cost_usd": None}}])
def test_a_plan_of_unknown_cost_is_not_accepted_as_cheap(estimate: Any):
    assert Rules(plans_below_usd=100.0).decide({**PLAN, "estimate": estimate}) is None


@pytest.mark.parametrize("value", ["question", "tool_call", "plan:x", "all", "tool_call:"])
def test_a_value_that_is_no_rule_is_refused(value: str):
    with pytest.raises(UsageError, match="is no rule"):
        Rules(accept=[value])
    if value != "question":
        with pytest.raises(UsageError, match="is no rule"):
            Rules(reject=[value])


def test_another_question_than_the_listed_one_gets_no_answer():
    waiting = make_waiting(CALL)

    require_listed(waiting, [dict(CALL)])
    for asked in ([], [{**CALL, "tool": "delete_all"}], [CALL, PLAN]):
        with pytest.raises(QuestionChanged, match="does not ask any more"):
            require_listed(waiting, asked)


class _Runs:
    """Runs whose traces are given; an error is raised in place of a trace."""

    def __init__(self, **traces: Any) -> None:
        self._traces = traces

    def list_threads(self) -> list[str]:
        return [*self._traces]

    def load_trace(self, thread: str) -> Any:
        trace = self._traces[thread]
        if isinstance(trace, Exception):
            raise trace
        return trace


def make_trace(asked_at: str = "", **run: Any) -> dict[str, Any]:
    known = {"status": "needs_input", "questions": [PLAN], "team": "trio", "asked_at": asked_at}
    return {"run": {**known, **run}, "events": [], "tasks": []}


def test_the_longest_waiting_is_first_and_what_cannot_be_read_is_named():
    runs: Any = _Runs(
        new=make_trace(NOW.isoformat()),
        old=make_trace((NOW - timedelta(days=1)).isoformat()),
        undated=make_trace("not a time"),
        done=make_trace(status="done"),
        gone=ThreadUnknown("no thread"),
        broken=TraceUnreadable("cannot be read"),
        torn={"run": {"status": "needs_input", "questions": [1]}, "events": 3},
    )

    waiting, unreadable = read_inbox(runs)

    assert [each.thread for each in waiting] == ["old", "new", "undated"]
    assert unreadable == ["broken", "torn"]
    assert read_inbox(runs, "another")[0] == []


def test_without_a_note_of_the_time_the_start_and_the_run_s_clock_say_it():
    trace = make_trace(started="2026-03-01T11:59:00+00:00", resumed=0)
    trace["events"] = [{"kind": "plan_created", "t": 60.0}]
    runs: Any = _Runs(one=trace)

    ((waiting,), _) = read_inbox(runs)

    assert waiting.asked_at == NOW
