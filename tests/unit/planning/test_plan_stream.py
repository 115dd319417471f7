"""Tasks of a plan, read while a model still writes its JSON."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.planning.speculation import PlanStream
from state import Plan, Task
from tests.teams import make_team

TEAM = make_team()


def describe(name: str) -> str:
    return f"Write {name}.md: name the three figures of part {name} and the source of each."


def make_fields(name: str, *needed: str, **fields: Any) -> dict[str, Any]:
    made = {"id": name, "description": describe(name), "worker": "researcher", **fields}
    return {**made, "depends_on": list(needed)} if needed else made


def write_plan(*tasks: dict[str, Any], **fields: Any) -> str:
    return json.dumps(
        {"goal": "Compare the parts.", "tasks": tasks, "aggregation": "merge", **fields}
    )


def read_parts(*texts: str) -> list[Task]:
    """Return the tasks that are begun when a reply grows in these steps."""
    begun: list[Task] = []
    stream = PlanStream(TEAM, {}, begun.append)
    for text in texts:
        stream.read_text(text)
    return begun


def list_ids(tasks: list[Task]) -> list[str]:
    return [task.id for task in tasks]


@st.composite
def draw_plans(draw: st.DrawFn) -> dict[str, Any]:
    names = [f"T{number}" for number in range(draw(st.integers(1, 6)))]
    tasks = []
    for number, name in enumerate(names):
        needed = draw(st.lists(st.sampled_from(names[:number]), unique=True)) if number else []
        worker = draw(st.sampled_from(["researcher", "analyst", "unknown"]))
        words = draw(st.sampled_from([describe(name), "Do it.", 'Say "}, {" of `[' + name + "`."]))
        tasks.append(make_fields(name, *needed, worker=worker, description=words))
    return {"goal": "Compare the parts.", "tasks": tasks, "aggregation": "merge"}


@given(plan=draw_plans(), indent=st.sampled_from([None, 2]), cuts=st.data())
def test_whatever_the_prefixes_only_free_tasks_of_the_final_plan_are_begun_each_once(
    plan: dict[str, Any], indent: int | None, cuts: st.DataObject
) -> None:
    text = json.dumps(plan, indent=indent)
    lengths = sorted(cuts.draw(st.lists(st.integers(0, len(text)), max_size=8)))

    begun = read_parts(*(text[:length] for length in lengths), text)

    known = [worker.name for worker in TEAM.workers]
    valid = {**plan, "tasks": [each for each in plan["tasks"] if each["worker"] in known]}
    kept = {each["id"] for each in valid["tasks"]}
    for each in valid["tasks"]:
        each["depends_on"] = [name for name in each.get("depends_on", ()) if name in kept]
    final = {task.id: task for task in Plan(**valid).tasks} if kept else {}
    assert list_ids(begun) == list_ids(read_parts(text))
    assert len(set(list_ids(begun))) == len(begun)
    assert all(final[task.id] == task and not task.depends_on for task in begun)


@given(text=st.text(max_size=200))
def test_a_reply_of_any_form_begins_nothing_and_raises_nothing(text: str) -> None:
    assert read_parts(text, f'{{"tasks": {text}', f'{{"tasks": [{text}') == []


def test_a_task_is_begun_with_its_own_last_character() -> None:
    text = write_plan(make_fields("A"))
    end = text.index("]")

    assert read_parts(text[: end - 1]) == []
    assert list_ids(read_parts(text[:end])) == ["A"]


def test_words_before_the_json_are_passed_over() -> None:
    text = write_plan(make_fields("A"), make_fields("B"))

    assert list_ids(read_parts(f"Here is the plan:\n```json\n{text[:-1]}")) == ["A", "B"]


def test_a_reply_that_starts_again_begins_no_task_twice() -> None:
    text = write_plan(make_fields("A"), make_fields("B"), make_fields("C"))
    growing = [text[:length] for length in range(0, len(text), 25)]

    assert list_ids(read_parts(*growing[: len(growing) // 2], *growing, text)) == ["A", "B", "C"]
    assert all(len(before) < len(after) for before, after in pairwise(growing))


@pytest.mark.parametrize(
    "fields",
    [
        make_fields("A", "B"),
        make_fields("A", worker="unknown"),
        make_fields("A", materials=["missing.md"]),
        make_fields("A", description="Do it."),
        make_fields("A", description=""),
        make_fields("A", is_compound=True),
        {"id": "A"},
        "A",
        None,
    ],
    ids=[
        *("needs another", "unknown worker", "unknown material", "vague", "no description"),
        *("compound", "no fields", "text", "null"),
    ],
)
def test_a_task_that_may_still_change_or_be_refused_is_not_begun(fields: Any) -> None:
    assert list_ids(read_parts(write_plan(fields, make_fields("Z")))) == ["Z"]
