"""A large plan on a terminal."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from graph.display.plan_tree import PlanTree, list_tree_rows
from graph.display.text import cut_middle


def make_tasks(**needs: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        {"id": name, "worker": "w", "depends_on": [{"task": need} for need in before]}
        for name, before in needs.items()
    ]


def draw_tree(tasks: list[dict[str, Any]], width: int, **console: Any) -> list[str]:
    page = StringIO()
    plan = {"version": 2, "goal": "Compare.", "tasks": tasks}
    states = {task["id"]: "done" for task in tasks}
    Console(file=page, width=width, **console).print(PlanTree(plan, states))
    return page.getvalue().splitlines()


def test_a_task_is_below_the_deepest_task_that_it_needs() -> None:
    tasks = make_tasks(a=(), b=("a",), c=("a", "b"), d=())

    assert list_tree_rows(tasks) == [("a", 0, ""), ("b", 1, "a"), ("c", 2, "b"), ("d", 0, "")]
    assert draw_tree(tasks, 80) == [
        "plan 2: Compare.",
        "├── a done",
        "│   └── b done",
        "│       └── c done and after a",
        "└── d done",
    ]


def test_a_damaged_plan_with_a_name_twice_or_a_cycle_has_each_task_once() -> None:
    twice = make_tasks(a=(), b=("a",)) + make_tasks(a=("b",))
    cycle = make_tasks(a=("b",), b=("a",), c=("c",))

    assert list_tree_rows(twice) == [("a", 0, ""), ("b", 1, "a")]
    assert list_tree_rows(cycle) == [("a", 0, ""), ("b", 1, "a"), ("c", 0, "")]


@pytest.mark.parametrize("width", [80, 40])
def test_forty_tasks_in_a_chain_fit_a_terminal(width: int) -> None:
    names = [f"a_task_with_a_long_name_in_a_chain_{n}" for n in range(40)]
    edges = {name: tuple(names[index - 1 : index]) for index, name in enumerate(names)}

    lines = draw_tree(make_tasks(**edges), width)

    assert len(lines) == 41
    assert all(len(line) <= width for line in lines)


def test_a_cut_name_keeps_its_end() -> None:
    assert cut_middle("regulation_in_the_union_10", 12) == "regul…ion_10"
    assert cut_middle("short", 12) == "short"
