"""A kept run with something changed: only what is changed, and what builds on it, is done again."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.replay.changes import ChangeInvalid, find_changes, list_descendants
from extensions.replay.fork import Comparison, ThreadTaken, afork
from extensions.replay.options import ChangeOptions
from extensions.replay.replayer import Replayed
from extensions.replay.runs import areplay, replay
from graph.runs.trace import list_threads
from graph.stores.thread_locks import ThreadInvalid
from nodes.errors import UsageError
from state import Plan
from tests.endpoint import Fault, Scenario, script_tasks
from tests.runs import REQUEST, Runs
from tests.screen import CapturedScreen

DIAMOND = {"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c"), "e": ()}


async def make_base(runs: Runs, scenario: Scenario | None = None, **options: Any) -> Replayed:
    runs.load_scenario(scenario or Scenario(tasks=script_tasks(DIAMOND)))
    outcome = await runs.run(REQUEST, **options)
    base = await areplay(outcome.thread, settings=runs.settings)
    assert base.is_equal
    return base


async def run_again(base: Replayed, runs: Runs, **options: Any) -> tuple[Comparison, set[str]]:
    changes = find_changes(ChangeOptions(**options), base)
    events = list[Any]()
    outcome = await afork(base, changes, settings=runs.settings, on_event=events.append)
    begun = {event["task"] for event in events if event["kind"] == "task_started"}
    return Comparison(base, changes, outcome), begun


async def test_a_replay_in_a_running_loop_is_refused_with_what_to_await_instead(runs: Runs) -> None:
    base = await make_base(runs)

    with pytest.raises(UsageError) as refused:
        replay(base.record.thread, settings=runs.settings)

    assert refused.value.next == "await areplay(THREAD)"


async def test_a_run_that_is_kept_is_not_overwritten_by_a_fork(runs: Runs) -> None:
    base = await make_base(runs, thread="kept")
    changes = find_changes(ChangeOptions(at=["b"]), base)

    for thread, error in (("kept", ThreadTaken), ("../x y", ThreadInvalid)):
        with pytest.raises(error):
            await afork(base, changes, settings=runs.settings, thread=thread)

    assert (await areplay("kept", settings=runs.settings)).digest == base.digest
    assert list_threads(runs.settings) == ["kept"]


async def test_a_refused_change_leaves_no_thread(runs: Runs) -> None:
    base = await make_base(runs)
    changes = find_changes(ChangeOptions(task=["b.worker=ghost"]), base)

    with pytest.raises(ChangeInvalid, match="ghost"):
        await afork(base, changes, settings=runs.settings)

    assert list_threads(runs.settings) == [base.outcome.thread]


async def test_a_fork_of_a_fork_has_the_request_the_plan_and_the_reports_in_its_trace(
    runs: Runs,
) -> None:
    base = await make_base(runs)
    for thread in ("first", "second"):
        changes = find_changes(ChangeOptions(at=["d"]), base)
        await afork(base, changes, settings=runs.settings, thread=thread)
        base = await areplay(thread, settings=runs.settings)
        assert base.is_equal

    trace = runs.load_trace("second")
    assert trace["run"]["request"] == REQUEST
    assert {task["id"] for task in trace["tasks"] if task["report"]} == DIAMOND.keys()


async def test_a_task_whose_list_of_dependencies_is_emptied_is_done_again_without_them(
    runs: Runs,
) -> None:
    base = await make_base(runs)

    found, begun = await run_again(base, runs, task=("d.depends_on=",))

    assert begun == {"d"} and found.outcome.status == "done"
    assert found.outcome.plan is not None
    assert not next(each for each in found.outcome.plan.tasks if each.id == "d").depends_on


async def test_a_changed_task_and_its_descendants_are_done_again_and_no_other(runs: Runs) -> None:
    base = await make_base(runs)

    words = "Write b.md: name the two risks of part b, and the source of each."
    found, begun = await run_again(base, runs, task=(f"b.description={words}",))

    said = found.to_json()
    assert begun == {"b", "d"} and said["redone"] == ["b", "d"]
    assert said["kept"] == ["a", "c", "e"] and said["plan"]["changed"] == ["b"]
    untimed = {"started_s": 0.0, "ended_s": 0.0}  # its time is that of the run that it is from
    kept, given = (each.outcome.results["a"] for each in (found, base))
    assert kept == given.model_copy(update=untimed)
    assert found.outcome.status == "done" and found.outcome.thread != base.outcome.thread
    # The bill is that of the change alone: two reports and the answer.
    assert said["usage"]["after"]["model_calls"] == 3


async def test_a_given_report_stands_in_for_a_task_that_is_not_done(
    runs: Runs, tmp_path: Path
) -> None:
    base = await make_base(runs)
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"output": "Part a costs 7 euros.", "confidence": 95}))

    found, begun = await run_again(base, runs, result=(f"a={path}",))

    assert begun == {"b", "c", "d"}
    assert found.to_json()["reports"]["a"]["output"]["after"] == "Part a costs 7 euros."
    (asked, *_) = runs.select_calls(schema="Report", task="b")[-1:]
    assert "Part a costs 7 euros." in json.dumps(asked.body)


async def test_another_model_does_the_tasks_of_its_tier_again(runs: Runs) -> None:
    base = await make_base(runs)

    found, begun = await run_again(base, runs, model=("standard=openai:gpt-5",))

    assert begun == set(DIAMOND)
    assert "openai:gpt-5" in found.outcome.results["a"].usage.models


async def test_a_run_begins_at_a_task_of_a_kept_one_and_is_itself_kept(runs: Runs) -> None:
    base = await make_base(runs)

    found, begun = await run_again(base, runs, at=("c",))
    again = await areplay(found.outcome.thread, settings=runs.settings)
    resumed = await runs.resume(found.outcome.thread)

    assert begun == {"c", "d"}
    assert again.is_equal and again.outcome.answer == found.outcome.answer
    assert resumed.status == "done" and resumed.results.keys() == DIAMOND.keys()


def test_a_changed_run_that_is_not_whole_says_its_status_and_its_gaps(
    supervise: CapturedScreen, tmp_path: Path
) -> None:
    (tmp_path / "memo.md").write_text("# Bells\n\nThe guarantee for a bell is ten years.\n")
    (tmp_path / "drawing.pdf").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    asked = ("run", "How long is the guarantee for a bell?", "--file", str(tmp_path))
    assert supervise(*asked, "--thread", "kept", "-q") == 3

    words = "How many years is the guarantee?"
    assert supervise("replay", "kept", "--task", f"researcher.description={words}") == 3

    assert "the run with the change is partial\n- not read: drawing.pdf (" in supervise.err
    assert "; why it is not whole: supervise why " in supervise.err


REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"task": ("nothing.description=x",)}, "the plan has no task nothing"),
    ({"task": ("b.colour=red",)}, "names no field of a task"),
    ({"task": ("b.description=x", "b.description=y")}, "is changed twice"),
    ({"task": ("b.worker=x",), "plan": Path("plan.json")}, "both change the plan"),
    ({"task": ("a.depends_on=d",)}, "the changed plan is invalid"),
    ({"model": ("great=openai:x",)}, "'great' is no tier"),
    ({"result": ("b=missing.json",)}, "missing.json cannot be read as a report"),
    ({"worker": (Path("painter.md"),)}, "there is no file painter.md"),
    ({"at": ("b",), "result": ("b=missing.json",)}, "cannot be read as a report"),
    ({"plan": Path("missing.json")}, "missing.json cannot be read as a plan"),
    ({"material": [Path("new.md")]}, "no task of the run has the material new.md"),
)


async def test_a_change_that_cannot_be_made_is_one_line(runs: Runs) -> None:
    base = await make_base(runs)
    await asyncio.to_thread(Path("new.md").write_text, "Part b costs 7 euros.")

    for options, said in REFUSED:
        with pytest.raises(ChangeInvalid) as refused:
            await asyncio.to_thread(find_changes, ChangeOptions(**options), base)
        line = refused.value.format_line()
        assert said in line and "\n" not in line and refused.value.exit_code == 2


async def test_a_task_that_was_never_begun_is_refused_and_its_cause_named(runs: Runs) -> None:
    lost = Fault(kind="context_length", schema="Report", task="a")
    tasks = script_tasks({"a": (), "b": ("a",), "e": ()})
    base = await make_base(runs, Scenario(tasks=tasks, faults=(lost,)))

    with pytest.raises(ChangeInvalid, match="the task b was never begun: needs a"):
        find_changes(ChangeOptions(at=["b"]), base)

    runs.script(*tasks)
    found, begun = await run_again(base, runs, at=("a",))
    assert begun == {"a", "b"} and found.outcome.status == "done"


@given(st.lists(st.sets(st.integers(0, 11), max_size=3), min_size=1, max_size=12), st.data())
def test_descendants_are_those_that_can_be_reached_over_any_number_of_edges(
    needed: list[set[int]], data: st.DataObject
) -> None:
    edges = {n: sorted(each for each in some if each < n) for n, some in enumerate(needed)}
    tasks = [
        {"id": f"t{n}", "description": "x", "worker": "w", "depends_on": [f"t{m}" for m in some]}
        for n, some in edges.items()
    ]
    plan = Plan.model_validate({"goal": "g", "tasks": tasks})
    start = data.draw(st.sampled_from(sorted(edges)))

    reached = {start}
    for n, some in edges.items():  # each comes after what it needs
        reached |= {n} if reached & {*some} else set()

    assert list_descendants(plan, [f"t{start}"]) == {f"t{n}" for n in reached}
