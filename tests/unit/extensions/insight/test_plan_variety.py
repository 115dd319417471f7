"""Teams whose plan is always the same, or whose one worker does all: said with evidence alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.insight.plan_variety import (
    MIN_PLANS,
    MIN_REQUESTS,
    describe_structure,
    find_sameness,
    read_plans,
)
from graph.commands.scaffold import make_team as scaffold_team
from graph.runs.trace import get_log_path
from graph.settings import Settings
from state import Dependency, Plan, Task
from tests.screen import CapturedScreen
from tests.teams import make_team

TEAM = make_team()
NAMES = ("researcher", "analyst", "writer")


def make_plan(*tasks: tuple[str, str, tuple[str | Dependency, ...]]) -> Plan:
    made = [Task(id=i, description=f"Do {i}.", worker=w, depends_on=n) for i, w, n in tasks]
    return Plan(goal="g", tasks=tuple(made))


FIRST: Any = (("a", "researcher", ()), ("b", "researcher", ()))
CHAIN = make_plan(*FIRST, ("c", "analyst", ("a", "b")))
LIKE_CHAIN = make_plan(
    ("z", "researcher", ()), ("x", "analyst", ("y", "z")), ("y", "researcher", ())
)
ALONE = make_plan(("a", "writer", ()))
TWO = make_plan(("a", "writer", ()), ("b", "writer", ("a",)))


def ask_for(plan: Plan, count: int = MIN_PLANS) -> list[tuple[str, Plan]]:
    return [(f"Request {n}?", plan) for n in range(count)]


def test_the_same_plan_in_other_words_and_order_is_the_same():
    assert describe_structure(CHAIN) == describe_structure(LIKE_CHAIN)

    planned = [*ask_for(CHAIN), ("Another one?", LIKE_CHAIN)]
    (line,) = find_sameness(TEAM, planned, "run")

    steps = "researcher, researcher → analyst"
    assert line.startswith(f"the plan was the same in {MIN_PLANS + 1} runs: {steps}. One agent")
    assert "supervise eval trio --against single" in line


@pytest.mark.parametrize(
    "other",
    [
        make_plan(("a", "researcher", ()), ("b", "researcher", ()), ("c", "analyst", ("a",))),
        make_plan(("a", "researcher", ()), ("b", "analyst", ()), ("c", "analyst", ("a", "b"))),
        make_plan(("a", "researcher", ()), ("c", "analyst", ("a",))),
        make_plan(*FIRST, ("c", "analyst", ("a", Dependency(task="b", required=False)))),
        make_plan(("a", "researcher", ()), ("b", "researcher", ("a",)), ("c", "analyst", ("b",))),
    ],
)
def test_one_other_plan_is_enough_to_say_nothing(other: Plan):
    assert find_sameness(TEAM, [*ask_for(CHAIN, 40), ("Other?", other)], "run") == []


def test_one_worker_that_does_all_is_named_also_where_plans_differ():
    (line,) = find_sameness(TEAM, [*ask_for(ALONE), *ask_for(TWO, 2)], "row")

    assert line.startswith(f"writer did all tasks in {MIN_PLANS + 2} rows of {MIN_PLANS} different")


def test_too_few_plans_or_requests_say_nothing():
    few = ask_for(ALONE, MIN_PLANS - 1)
    alike = [(f"  request {n % (MIN_REQUESTS - 1)}? ", ALONE) for n in range(100)]

    assert find_sameness(TEAM, few, "run") == [] and find_sameness(TEAM, alike, "run") == []
    assert find_sameness(TEAM, [], "run") == []
    assert find_sameness(make_team(strategy="single"), ask_for(ALONE), "run") == []


@st.composite
def plans(draw: st.DrawFn) -> list[tuple[str, str, tuple[str, ...]]]:
    count, tasks = draw(st.integers(1, 7)), list[tuple[str, str, tuple[str, ...]]]()
    for index in range(count):
        earlier = [each[0] for each in tasks]
        needs = draw(st.lists(st.sampled_from(earlier), unique=True)) if earlier else []
        tasks.append((f"t{index}", draw(st.sampled_from(NAMES)), tuple(needs)))
    return tasks


@given(plans(), st.randoms(use_true_random=False))
def test_neither_names_nor_order_of_tasks_count(tasks: Any, random: Any):
    numbers = random.sample(range(1000), len(tasks))
    renamed = {task[0]: f"n{number}" for task, number in zip(tasks, numbers, strict=True)}
    other = [(renamed[i], w, tuple(renamed[n] for n in needs)) for i, w, needs in tasks]
    random.shuffle(other)

    assert describe_structure(make_plan(*tasks)) == describe_structure(make_plan(*other))


def write_run(thread: str, request: str = "", **changed: Any) -> Path:
    """Write the log of a run of the team, with one task."""
    asked = {
        "request": request or thread,
        "strategy": "plan",
        "workers": {name: {} for name in NAMES},
    }
    team = changed.pop("team", "trio")
    entries = [
        {"run": {"thread": thread, "team": team, "started": "2026-01-01T00:00:00+00:00"}},
        {"t": 0.0, "kind": "request", **asked, **changed},
        {"t": 0.1, "kind": "plan_created", "within": "a", "plan": {"goal": "inner"}},
        {"t": 0.1, "kind": "plan_created", "plan": ALONE.model_dump(mode="json")},
        {"t": 0.2, "kind": "plan_revised", "plan": CHAIN.model_dump(mode="json")},
    ]
    path = get_log_path(thread, Settings())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))
    return path


def test_kept_runs_count_with_the_plan_they_began_with():
    write_run("one", "What is it?")

    assert [*read_plans(TEAM, Settings())] == [("What is it?", ALONE)]


def test_runs_of_other_teams_workers_or_strategies_and_damaged_logs_do_not_count():
    write_run("other", team="duo")
    write_run("older", workers={"researcher": {}})
    write_run("stepped", strategy="step")
    write_run("torn").write_text('{"run": {"team": "trio"}}\n{"kind": "request"')
    write_run("wrong", workers=3)
    forged = write_run("forged")
    forged.write_text(forged.read_text().replace("writer", "stranger", 2))
    write_run("empty").write_text("")

    assert [*read_plans(TEAM, Settings())] == []


@pytest.mark.slow
def test_check_says_it_of_kept_runs(supervise: CapturedScreen):
    folder = scaffold_team("juice", Path("teams"))
    workers: dict[str, Any] = {path.stem: {} for path in folder.glob("*.md")}
    workers.pop("team")
    workers.pop("README", None)
    for number in range(MIN_PLANS):
        path = write_run(f"run-{number}", team="juice", workers=workers)
        path.write_text(path.read_text().replace("writer", "reader"))

    assert supervise("check", str(folder)) == 0

    said = f"note: reader did all tasks in {MIN_PLANS} runs. One agent may do as well"
    assert said in " ".join(supervise.out.split())
