"""What code finds wrong in a plan: its form, vague words, and workers without a fitting tool."""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nodes.planning.tool_fit import explain_misfit
from nodes.planning.vagueness import explain_vagueness
from nodes.planning.validation import list_plan_problems, list_vague_tasks
from nodes.schemas.team import Team, Worker
from state import Plan, Report, Task
from tests.benchmarks.vagueness.measure import HALVES, Half, count_errors, read_descriptions
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


def find_misfit(description: str, worker: str, team: Team = TEAM) -> str | None:
    task = Task(id="T1", description=description, worker=worker)
    return explain_misfit(task, team.find_worker(worker), team)


def make_team_with(*tools: str, description: str = "Does things.") -> Team:
    helper = Worker(name="helper", description=description, instructions="Do.", tools=tools)
    return TEAM.model_copy(update={"workers": (*TEAM.workers, helper)})


@pytest.mark.parametrize(
    ("description", "worker", "able"),
    [
        ("Search the web for the founding year of Bosch", "writer", "researcher"),
        ("Fetch https://example.com/prices and list the prices", "writer", "researcher"),
        ("Query the database for revenue by region", "writer", "analyst"),
    ],
)
def test_a_task_is_refused_that_another_worker_has_the_tool_for(
    description: str, worker: str, able: str
) -> None:
    assert f"give it to {able}" in (find_misfit(description, worker) or "")
    assert find_misfit(description, able) is None


@pytest.mark.parametrize(
    "description",
    [
        "Send an email to legal@example.com with the margin",
        "Deploy the pricing service to production",
        "Book a flight to Oslo on 3 May",
        "Call the customer and confirm the address",
    ],
)
def test_a_task_outside_every_workers_tools_is_refused(description: str) -> None:
    assert "no worker of the team" in (find_misfit(description, "writer") or "")


@pytest.mark.parametrize(
    "description",
    [
        "Draft an email to the customer about the refund",
        "Write a deployment checklist for the pricing service",
        "Compute the book value per share of Bosch",
        "Book value of Bosch per share for 2023",
        "Pay gap between nurses and doctors in Leeds, by year",
        "Explain how to call the REST API from Rust",
        "Summarize the sources of T1 on web search",
    ],
)
def test_words_of_a_capability_in_another_role_are_no_reason_to_refuse(description: str) -> None:
    assert find_misfit(description, "writer") is None


@pytest.mark.parametrize("tool", ["acme.crm:outreach", "crm", "gateway"])
def test_tools_with_meaningless_names_are_not_held_against_a_task(tool: str) -> None:
    team = make_team_with(tool)

    assert find_misfit("Send an email to legal@example.com with the margin", "helper", team) is None


def test_a_worker_whose_description_offers_the_capability_is_believed() -> None:
    team = make_team_with(description="Sends mail on behalf of the company.")

    assert find_misfit("Send an email to legal@example.com with the margin", "helper", team) is None


def test_good_tasks_are_refused_only_where_nobody_could_do_them() -> None:
    refused = [
        item.text
        for half in HALVES
        for item in read_descriptions(half)
        if item.label == "good"
        and all(find_misfit(item.text, worker.name) for worker in TEAM.workers)
    ]

    assert all(text.split()[0] in ("Book", "Deploy", "Roll", "Run") for text in refused), refused


@pytest.mark.parametrize(
    "description",
    [
        *("Analyze the data", "Do research", "Handle the rest", "Look into it"),
        *("Improve the results", "12345"),
    ],
)
def test_a_description_without_an_object_is_reported(description: str) -> None:
    assert "what to work on" in (explain_vagueness(description) or "")


def test_a_description_without_a_result_is_reported() -> None:
    assert "result that can be checked" in (explain_vagueness("Improve coverage") or "")


@pytest.mark.parametrize(
    "description",
    [
        "Sum column revenue by region",
        "Translate clause 4.2 into French",
        "List open ports on host db-3",
        "Rank T1's candidates by price",
        "Compare the three companies found by T1",
        "Verify the results against sales.csv",
        "Analyze the results of Tesla",
        "Check the state of the PostgreSQL server",
        "Update the record 'k7-Blue' with a new name, size and status",
        "Take the 9.15 to the harbour office and give them the key details of the case",
        "How many suppliers are there?",
        "Go to the boiler room",
        "Understand the customers' needs, the reasons behind them and the ways in which "
        "the lighthouse project might serve them better over time",
    ],
)
def test_a_short_description_that_names_its_work_passes(description: str) -> None:
    assert explain_vagueness(description) is None


@pytest.mark.parametrize(
    "description",
    [
        "Provide 5 insights",
        "Improve the teams' work and the users' experience",
        "Review the data. Provide the insights.",
        "What is important?",
    ],
)
def test_sizes_apostrophes_and_capitals_name_no_object(description: str) -> None:
    assert explain_vagueness(description)


@pytest.mark.parametrize(
    "description",
    [
        "Analysiere die Daten der Umfrage nach Altersgruppe",
        "Analiza los datos de ventas por región",
        "Résume les résultats par pays",
        "分析各地区的销售数据",
        "Проанализируй продажи по регионам",
        "حلل المبيعات حسب المنطقة",
    ],
)
def test_other_languages_are_not_refused_for_not_being_english(description: str) -> None:
    assert explain_vagueness(description) is None


@given(st.text(min_size=1, max_size=300))
def test_any_text_gets_an_answer(description: str) -> None:
    assert explain_vagueness(description) is None or len(explain_vagueness(description) or "") > 20


@pytest.mark.parametrize(
    ("half", "max_false_refusals", "max_misses"),
    [("development", 0.0, 0.02), ("held_out", 0.011, 0.15)],
)
def test_errors_stay_within_the_bounds_reached(
    half: Half, max_false_refusals: float, max_misses: float
) -> None:
    counts = count_errors(read_descriptions(half))

    assert counts.false_refusal_rate <= max_false_refusals
    assert counts.miss_rate <= max_misses
