"""What has one meaning in a plan is corrected without a call; what has two, or none, is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.planning.corrections import add_named_files, correct_plan
from nodes.schemas.team import Example
from state import Plan
from tests.teams import make_team

TEAM = make_team("researcher", "analyst", "data_writer")
MATERIALS = ("data/sales.csv", "policy.md", "old/notes.txt", "new/notes.txt")


def make_plan(**last: Any) -> dict[str, Any]:
    """Make a plan of three tasks; the fields are those of the last one."""
    tasks: list[dict[str, Any]] = [
        {"id": "T1", "description": "Find the prices.", "worker": "researcher"},
        {"id": "T2", "description": "Find the costs.", "worker": "researcher"},
        {"id": "T3", "description": "Compare them.", "worker": "analyst", **last},
    ]
    return {"goal": "Compare prices.", "tasks": tasks}


def correct(plan: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    return correct_plan(plan, TEAM, MATERIALS)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"worker": "Analyst "}, {"worker": "analyst"}),
        ({"worker": "Data-Writer"}, {"worker": "data_writer"}),
        ({"depends_on": ["t1"]}, {"depends_on": ["T1"]}),
        (
            {"depends_on": [{"task": "t2", "required": False}]},
            {"depends_on": [{"task": "T2", "required": False}]},
        ),
        ({"depends_on": ["policy.md"]}, {"depends_on": [], "materials": ["policy.md"]}),
        (
            {"depends_on": ["T1", "sales.csv"]},
            {"depends_on": ["T1"], "materials": ["data/sales.csv"]},
        ),
        ({"materials": ["Sales.csv"]}, {"materials": ["data/sales.csv"]}),
        ({"materials": ["T1"]}, {"materials": [], "depends_on": ["T1"]}),
        ({"description": "Analyst"}, {"description": "Does what a analyst does: Compare prices."}),
    ],
)
def test_what_has_one_meaning_becomes_it_and_is_named(
    written: dict[str, Any], meant: dict[str, Any]
) -> None:
    corrected, changes = correct(make_plan(**written))

    assert corrected == make_plan(**{**written, **meant})
    assert len(changes) == 1 and changes[0].startswith("task T3: ")


def test_an_id_that_is_too_long_is_changed_wherever_it_is_named() -> None:
    long = "Find_the_prices_of_all_products_of_the_shop"
    plan = make_plan(depends_on=[long, {"task": "T2", "required": False}])
    plan["tasks"][0]["id"] = long

    corrected, changes = correct(plan)

    name = "Find_the_prices_of_all_products_of_the_s"
    assert corrected["tasks"][0]["id"] == name
    assert corrected["tasks"][2]["depends_on"] == [name, {"task": "T2", "required": False}]
    assert changes == [f"task {long}: its id is now {name!r}"]


def test_a_dependency_that_names_the_worker_of_one_task_is_that_task() -> None:
    plan = make_plan()
    plan["tasks"][1]["depends_on"] = ["analyst"]

    corrected, changes = correct(plan)

    assert corrected["tasks"][1]["depends_on"] == ["T3"]
    assert changes == ["task T2: dependency 'analyst' is 'T3'"]


@pytest.mark.parametrize(
    "written",
    [
        {"depends_on": ["researcher"]},
        {"depends_on": ["analyst"]},
        {"depends_on": ["data_writer"]},
        {"depends_on": ["notes.txt"]},
        {"materials": ["notes.txt"]},
        {"materials": ["T3"]},
        {"worker": "accountant"},
        {"worker": None},
        {"depends_on": None, "materials": 5},
        {"materials": [None, ["policy.md"]]},
    ],
    ids=str,
)
def test_what_has_two_meanings_or_none_stays_as_it_was_written(written: dict[str, Any]) -> None:
    plan = make_plan(**written)

    assert correct(plan) == (plan, [])


def test_what_only_the_supervisor_sets_is_left_out() -> None:
    assert correct({**make_plan(), "version": 7, "rule_reason": "none"}) == (make_plan(), [])


NAMES = st.sampled_from(
    ["T1", "t1", "T9", "analyst", "Researcher", "data writer", "policy.md", "Sales.csv", "x", ""]
)
TASKS = st.fixed_dictionaries(
    {"id": st.sampled_from(["T1", "T2", "t1", "A-1", "a_1", 7]), "worker": NAMES},
    optional={
        "description": NAMES,
        "depends_on": st.lists(NAMES | st.builds(lambda name: {"task": name}, NAMES)) | NAMES,
        "materials": st.lists(NAMES) | st.none() | st.integers(),
    },
)


@given(st.lists(TASKS, max_size=4))
def test_a_corrected_plan_needs_no_correction(tasks: list[dict[str, Any]]) -> None:
    once, _ = correct({"goal": "g", "tasks": tasks})

    assert correct(once) == (once, [])


@given(
    st.lists(
        st.fixed_dictionaries(
            {"worker": st.sampled_from([worker.name for worker in TEAM.roster])},
            optional={"materials": st.lists(st.sampled_from(MATERIALS))},
        ),
        min_size=1,
        max_size=5,
    )
)
def test_a_valid_plan_stays_as_it_is(fields: list[dict[str, Any]]) -> None:
    tasks = [
        {"id": f"T{n}", "description": f"Find {n}.", "depends_on": [f"T{i}" for i in range(n)], **f}
        for n, f in enumerate(fields)
    ]
    plan = {"goal": "g", "tasks": tasks}

    assert correct(plan) == (plan, [])


def correct_needs(*tasks: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Correct a plan of a team whose analyst needs the researcher's report."""
    analyst = TEAM.workers[1].model_copy(update={"needs": ("researcher",)})
    team = TEAM.model_copy(update={"workers": (TEAM.workers[0], analyst, TEAM.workers[2])})
    corrected, changes = correct_plan({"goal": "Compare.", "tasks": list(tasks)}, team, MATERIALS)
    return corrected["tasks"], changes


FIND = {"id": "T1", "description": "Find the prices.", "worker": "researcher"}
COMPARE = {"id": "T2", "description": "Compare the prices.", "worker": "analyst"}


def test_a_task_without_the_report_that_its_worker_needs_depends_on_it() -> None:
    tasks, changes = correct_needs(FIND, COMPARE)

    assert tasks == [FIND, {**COMPARE, "depends_on": ["T1"]}]
    assert changes == ["task T2: it depends on researcher"]


def test_a_needed_report_that_nobody_makes_is_planned_with_all_materials() -> None:
    (compare, added), _ = correct_needs(COMPARE)

    assert compare["depends_on"] == ["researcher"] == [added["id"]]
    assert (added["worker"], added["materials"]) == ("researcher", list(MATERIALS))
    assert added["description"] == "Does what a researcher does: Compare."


@pytest.mark.parametrize("edge", ["T1", {"task": "T1", "required": False}])
def test_a_task_that_depends_on_the_report_stays(edge: Any) -> None:
    written = {**COMPARE, "depends_on": [edge]}

    assert correct_needs(FIND, written) == ([FIND, written], [])


@pytest.mark.parametrize(
    ("edges", "ids"),
    [
        ([1, {"task": 2, "required": False}], ["T1", {"task": "T2", "required": False}]),
        (["2"], ["T2"]),
        (["T1", 2], ["T1", "T2"]),
    ],
)
def test_a_number_is_the_id_of_the_task_that_it_counts(edges: list[Any], ids: list[Any]) -> None:
    corrected, changes = correct(make_plan(depends_on=edges))

    assert (corrected["tasks"][2]["depends_on"], changes) == (ids, [])


def test_a_dependency_on_nothing_that_exists_is_left_out_and_named() -> None:
    corrected, changes = correct(make_plan(depends_on=["T1", "trend", 9]))

    assert corrected["tasks"][2]["depends_on"] == ["T1"]
    assert changes == [
        "task T3: dependency 'trend' is no task, and is left out",
        "task T3: dependency '9' is no task, and is left out",
    ]


def test_a_dependency_on_a_finished_task_that_the_plan_does_not_repeat_stays() -> None:
    plan = make_plan(depends_on=["earlier"])

    assert correct_plan(plan, TEAM, MATERIALS, finished=["earlier"]) == (plan, [])


def test_a_task_that_is_there_twice_is_left_out_once() -> None:
    corrected, changes = correct(
        make_plan(id="T1", worker="researcher", description="Find the prices.")
    )

    assert [task["description"] for task in corrected["tasks"]] == [
        "Find the prices.",
        "Find the costs.",
    ]
    assert changes == ["task T1: it is there twice, and is left out"]


def test_a_plan_without_a_goal_has_the_request_as_its_goal() -> None:
    tasks = make_plan()["tasks"]

    corrected, _ = correct_plan({"tasks": tasks}, TEAM, MATERIALS, request="Compare  them.")

    assert corrected == {"goal": "Compare them.", "tasks": tasks}


def test_a_task_of_an_example_for_another_request_is_left_out() -> None:
    example = Example(request="Compare the costs.", plan=Plan.model_validate(make_plan()))
    team, own = TEAM.model_copy(update={"examples": (example,)}), make_plan(description="Add up.")

    other, changes = correct_plan(own, team, MATERIALS, request="What is the total of May?")
    same, _ = correct_plan(own, team, MATERIALS, request="Compare the costs.")
    near, _ = correct_plan(own, team, MATERIALS, request="What are the prices of May?")

    assert [task["id"] for task in other["tasks"]] == ["T3"] and len(changes) == 2
    assert same == own
    assert [task["id"] for task in near["tasks"]] == ["T1", "T3"], "one that fits may be meant"


def test_a_task_has_the_files_that_its_description_names() -> None:
    plan = make_plan(description="Compare sales.csv with policy.md.", materials=["policy.md"])

    filled, changes = add_named_files(plan, MATERIALS)

    assert filled["tasks"][2]["materials"] == ["policy.md", "data/sales.csv"]
    assert "materials" not in filled["tasks"][0]
    assert changes == ["task T3: it names 'data/sales.csv'"]


def test_an_id_with_other_signs_is_changed_wherever_it_is_named() -> None:
    plan = make_plan(depends_on=["find the prices"])
    plan["tasks"][0]["id"] = "find the prices"

    corrected, changes = correct(plan)

    assert [task["id"] for task in corrected["tasks"]] == ["find_the_prices", "T2", "T3"]
    assert corrected["tasks"][2]["depends_on"] == ["find_the_prices"]
    assert len(changes) == 1


def test_a_tasks_own_number_is_left_out_of_its_dependencies() -> None:
    corrected, changes = correct(make_plan(depends_on=[3, 1]))

    assert corrected["tasks"][2]["depends_on"] == ["T1"]
    assert changes == ["task T3: dependency 3 is the task itself, and is left out"]


@pytest.mark.parametrize(
    ("said", "given"),
    [
        ("Read old/notes.txt.", ["old/notes.txt"]),
        ("Read notes.txt.", None),
        ("Unpack policy.md.gz.", None),
        ("Read policy.md, then stop", ["policy.md"]),
    ],
)
def test_a_file_is_named_by_its_whole_name(said: str, given: list[str] | None) -> None:
    filled, _ = add_named_files(make_plan(description=said), MATERIALS)

    assert filled["tasks"][2].get("materials") == given


def test_tasks_without_ids_are_no_duplicates_of_each_other() -> None:
    tasks = [{"worker": "analyst", "description": words} for words in ("Add up.", "Compare.")]

    assert len(correct({"goal": "g", "tasks": tasks})[0]["tasks"]) == 2


@pytest.mark.parametrize("edge", ["9" * 5_000, 10**30, 1.5, True, None])
def test_a_dependency_that_is_no_number_of_a_task_breaks_nothing(edge: Any) -> None:
    assert correct(make_plan(depends_on=[edge]))[0]["tasks"][0]["id"] == "T1"
