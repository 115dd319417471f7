from random import Random
from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from nodes.checks.plan import problems, vague_tasks
from state import Plan, Task
from tests.bad_plans import (
    FAULTS,
    MATERIALS,
    MAX_TASKS,
    SAYS,
    TEAM,
    BadPlan,
    Fault,
    PlanJson,
    bad_plan,
    bad_plans,
    good_plans,
)


def complaints(plan: PlanJson) -> list[str]:
    try:
        made = Plan.model_validate(plan)
    except ValidationError as error:
        return error.errors()[0]["msg"].split("; ")
    wrong = problems(made, TEAM, max_tasks=MAX_TASKS, materials=MATERIALS)
    return [*wrong, *vague_tasks(made.tasks)]


def is_said(fault: Fault, bad: BadPlan) -> bool:
    said = [sentence for sentence in complaints(bad.plan) if SAYS[fault] in sentence]
    return bool(said) and all(
        any(name in sentence for sentence in said) for name in bad.faults[fault]
    )


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("seed", range(10))
def test_each_fault_is_refused_by_a_sentence_that_names_its_task(fault: Fault, seed: int) -> None:
    bad = bad_plan(Random(seed), fault)

    assert is_said(fault, bad), complaints(bad.plan)


@given(bad_plans())
def test_a_plan_with_several_faults_hears_of_all_that_can_be_told_at_once(bad: BadPlan) -> None:
    for fault in bad.told():
        assert is_said(fault, bad), complaints(bad.plan)

    assert complaints(bad.plan)


@given(good_plans())
def test_good_plans_pass(plan: PlanJson) -> None:
    assert complaints(plan) == []


@given(bad_plans())
def test_the_same_plan_gives_the_same_sentences_in_the_same_order(bad: BadPlan) -> None:
    assert complaints(bad.plan) == complaints(bad.plan)


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

    worker, material = problems(plan, TEAM, max_tasks=5, materials=MATERIALS)

    assert "did you mean 'researcher'?" in worker
    assert "researcher, analyst, writer" in worker
    assert "did you mean 'contract.pdf'?" in material


def test_a_material_of_a_request_without_any_is_refused_as_such() -> None:
    task = Task(id="T1", description="Sum column B by region", worker="analyst", materials=("x",))

    (sentence,) = problems(Plan(goal="g", tasks=(task,)), TEAM, max_tasks=5)

    assert "the request has no materials" in sentence


def test_several_attempts_at_one_task_are_no_repetition_when_the_best_is_selected() -> None:
    tasks = tuple(
        Task(id=f"T{n}", description="Write a slogan for a bakery in Graz", worker="writer")
        for n in range(3)
    )

    merged = problems(Plan(goal="g", tasks=tasks), TEAM, max_tasks=5)
    selected = problems(Plan(goal="g", tasks=tasks, aggregation="select"), TEAM, max_tasks=5)

    assert len(merged) == 2
    assert selected == []


def test_the_same_words_about_other_materials_or_inputs_are_another_task() -> None:
    tasks = tuple(
        Task(id=f"T{n}", description="Translate it into French", worker="writer", materials=(name,))
        for n, name in enumerate(MATERIALS)
    )

    assert problems(Plan(goal="g", tasks=tasks), TEAM, max_tasks=5, materials=MATERIALS) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_vague_task_is_no_problem_of_its_plan_but_one_without_words_is(seed: int) -> None:
    vague = Plan.model_validate(bad_plan(Random(seed), "vague_task").plan)
    (*sound, last) = vague.tasks
    wordless = last.model_copy(update={"description": "12: ..."})
    limits: Any = {"max_tasks": MAX_TASKS, "materials": MATERIALS}

    (sentence,) = problems(Plan(goal="g", tasks=(*sound, wordless)), TEAM, **limits)

    assert problems(vague, TEAM, **limits) == []
    assert [last.id in told for told in vague_tasks(vague.tasks)] == [True]
    assert "has no words" in sentence and vague_tasks([wordless]) == []


def test_a_plan_of_a_thousand_tasks_is_refused_in_one_sentence() -> None:
    task = {"description": "Analyze the data", "worker": "nobody"}
    plan = Plan.model_validate(
        {"goal": "g", "tasks": [{"id": f"T{n}", **task} for n in range(1000)]}
    )

    assert len(problems(plan, TEAM, max_tasks=32)) == 1
