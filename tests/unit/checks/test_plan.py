from random import Random
from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from nodes.planning.validation import list_plan_problems, list_vague_tasks
from state import Plan, Report, Task
from tests.plan_payloads import (
    FAULT_WORDS,
    FAULTS,
    MATERIALS,
    MAX_TASKS,
    TEAM,
    BadPlan,
    PlanFault,
    PlanJson,
    bad_plans,
    good_plans,
    make_bad_plan,
)


def list_complaints(plan: PlanJson) -> list[str]:
    try:
        made = Plan.model_validate(plan)
    except ValidationError as error:
        return error.errors()[0]["msg"].split("; ")
    wrong = list_plan_problems(made, TEAM, max_tasks=MAX_TASKS, materials=MATERIALS)
    return [*wrong, *list_vague_tasks(made.tasks)]


def is_reported(fault: PlanFault, bad: BadPlan) -> bool:
    complaints = [
        sentence for sentence in list_complaints(bad.plan) if FAULT_WORDS[fault] in sentence
    ]
    return bool(complaints) and all(
        any(name in sentence for sentence in complaints) for name in bad.faults[fault]
    )


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("seed", range(10))
def test_each_fault_is_refused_by_a_sentence_that_names_its_task(
    fault: PlanFault, seed: int
) -> None:
    bad = make_bad_plan(Random(seed), fault)

    assert is_reported(fault, bad), list_complaints(bad.plan)


@pytest.mark.slow
@given(bad_plans())
def test_a_plan_with_several_faults_hears_of_all_that_can_be_told_at_once(bad: BadPlan) -> None:
    for fault in bad.list_reported_faults():
        assert is_reported(fault, bad), list_complaints(bad.plan)

    assert list_complaints(bad.plan)


@given(good_plans())
def test_good_plans_pass(plan: PlanJson) -> None:
    assert list_complaints(plan) == []


@given(bad_plans())
def test_the_same_plan_gives_the_same_sentences_in_the_same_order(bad: BadPlan) -> None:
    assert list_complaints(bad.plan) == list_complaints(bad.plan)


def test_unknown_names_are_answered_with_the_nearest_known_one() -> None:
    plan = Plan(
        goal="g",
        tasks=(
            Task(
                id="T1",
                description="List the clauses of contract.pdf",
                worker="reasearcher",
                materials=("Contract.PDF",),
            ),
        ),
    )

    worker, material = list_plan_problems(plan, TEAM, max_tasks=5, materials=MATERIALS)

    assert "did you mean 'researcher'?" in worker
    assert "researcher, analyst, writer" in worker
    assert "did you mean 'contract.pdf'?" in material


def test_a_material_of_a_request_without_any_is_refused_as_such() -> None:
    task = Task(id="T1", description="Sum column B by region", worker="analyst", materials=("x",))

    (sentence,) = list_plan_problems(Plan(goal="g", tasks=(task,)), TEAM, max_tasks=5)

    assert "the request has no materials" in sentence


def test_several_attempts_at_one_task_are_no_repetition_when_the_best_is_selected() -> None:
    tasks = tuple(
        Task(id=f"T{n}", description="Write a slogan for a bakery in Graz", worker="writer")
        for n in range(3)
    )

    merged = list_plan_problems(Plan(goal="g", tasks=tasks), TEAM, max_tasks=5)
    selected = list_plan_problems(
        Plan(goal="g", tasks=tasks, aggregation="select"), TEAM, max_tasks=5
    )

    assert len(merged) == 2
    assert selected == []


def test_the_same_words_about_other_materials_or_inputs_are_another_task() -> None:
    tasks = tuple(
        Task(id=f"T{n}", description="Translate it into French", worker="writer", materials=(name,))
        for n, name in enumerate(MATERIALS)
    )

    assert (
        list_plan_problems(Plan(goal="g", tasks=tasks), TEAM, max_tasks=5, materials=MATERIALS)
        == []
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_vague_task_is_no_problem_of_its_plan_but_one_without_words_is(seed: int) -> None:
    vague = Plan.model_validate(make_bad_plan(Random(seed), "vague_task").plan)
    (*sound, last) = vague.tasks
    wordless = last.model_copy(update={"description": "12: ..."})
    limits: Any = {"max_tasks": MAX_TASKS, "materials": MATERIALS}

    (sentence,) = list_plan_problems(Plan(goal="g", tasks=(*sound, wordless)), TEAM, **limits)

    assert list_plan_problems(vague, TEAM, **limits) == []
    assert [last.id in result for result in list_vague_tasks(vague.tasks)] == [True]
    assert "has no words" in sentence and list_vague_tasks([wordless]) == []


def test_a_task_that_reads_a_material_or_a_result_is_not_vague() -> None:
    task = {"description": "Analyze the data", "worker": "analyst"}
    plan = Plan.model_validate(
        {
            "goal": "g",
            "tasks": [
                {"id": "alone", **task},
                {"id": "reads", **task, "materials": ["sales.csv"]},
                {"id": "follows", **task, "depends_on": ["reads"]},
            ],
        }
    )

    assert [sentence.split("'")[1] for sentence in list_vague_tasks(plan.tasks)] == ["alone"]


def test_a_plan_of_a_thousand_tasks_is_refused_in_one_sentence() -> None:
    task = {"description": "Analyze the data", "worker": "nobody"}
    plan = Plan.model_validate(
        {"goal": "g", "tasks": [{"id": f"T{n}", **task} for n in range(1000)]}
    )

    assert len(list_plan_problems(plan, TEAM, max_tasks=32)) == 1


@pytest.mark.parametrize(
    ("depends_on", "is_refused"),
    [(["T1"], False), ([], True), ([{"task": "T1", "required": False}], False)],
)
def test_a_task_must_depend_on_the_report_that_its_worker_needs(
    depends_on: list[Any], is_refused: bool
) -> None:
    first, second, *others = TEAM.workers
    needing = second.model_copy(update={"needs": (first.name,)})
    team = TEAM.model_copy(update={"workers": (first, needing, *others)})
    find = Task(id="T1", description="Find the prices of notes.md.", worker=first.name)
    task = {"id": "T2", "description": "Rank the prices.", "worker": second.name}
    plan = Plan(goal="g", tasks=(find, Task.model_validate({**task, "depends_on": depends_on})))

    problems = list_plan_problems(plan, team, max_tasks=5)

    assert bool(problems) == is_refused
    assert all(f"works on the report of {first.name}" in problem for problem in problems)
    done = Report(task="T0", worker=first.name, output="24 EUR")
    assert not list_plan_problems(plan, team.drop_needs([done]), max_tasks=5)
