"""Plans by rule: who gets which part of a request, and what has no worker."""

from functools import reduce
from operator import add
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_tests.unit_tests import ChatModelUnitTests

from extensions.embedded.model import EmbeddedModel
from extensions.embedded.planning import write_recruit, write_refinement
from graph.teams.team_loader import load_team
from nodes.schemas.handoff import (
    PlanningValues,
    RecruitValues,
    RefinementValues,
    RevisionValues,
    lay_beside,
)
from nodes.schemas.team import Team
from nodes.text.similarity import extract_words, is_meaning_available
from state import Plan, Report
from tests.unit.extensions.embedded.embedded_runs import make_example, make_plan, make_team

CARDS = {
    "baker": "Scales a bread recipe and measures dough.",
    "vet": "Examines animals and counts their injuries.",
    "smith": "Forges gates and hinges from iron.",
}
YARD = make_team(CARDS)
MARKETS = load_team("market_analysis")


def list_workers(plan: Plan) -> list[str]:
    return [task.worker for task in plan.tasks]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "Scale the bread recipe, examine the animals and forge a gate",
            {"baker": "Scale the bread recipe", "vet": "examine the animals"},
        ),
        ("Look after dough, animals and iron gates", {"vet": "animals", "smith": "iron gates"}),
        (
            "Measure the dough. Then, which animals have injuries?",
            {"baker": "Measure the dough.", "vet": "which animals have injuries?"},
        ),
    ],
)
def test_each_part_goes_to_the_worker_that_it_is_for(text: str, parts: dict[str, str]) -> None:
    plan = make_plan(text, team=YARD)

    subjects = {task.worker: task.asked for task in plan.tasks}
    assert all(words in subjects[name] for name, words in parts.items())
    assert not plan.untaken


def test_a_part_that_is_for_nobody_is_untaken_before_anything_runs() -> None:
    plan = make_plan("Scale the bread recipe and book flights to Oslo", team=YARD)

    assert list_workers(plan) == ["baker"]
    assert plan.untaken == ("book flights to Oslo",)


@pytest.mark.parametrize(
    ("request_text", "untaken"),
    [("Which tenant owes most?", ()), ("Book flights to Oslo", ("Book flights to Oslo",))],
)
def test_what_is_near_to_no_worker_is_searched_for_if_it_is_a_question(
    request_text: str, untaken: tuple[str, ...]
) -> None:
    plan = make_plan(request_text, team=YARD)

    assert len(plan.tasks) == 1 and plan.untaken == untaken


def test_the_last_of_several_named_workers_is_planned_too() -> None:
    names = ["look", "taste", "weight"]
    shown = make_example("Check the dough", dict.fromkeys(names, ()))
    team = make_team({name: f"Judges the {name}." for name in names}, shown)

    plan = make_plan("Check the dough for look, taste, and weight issues", team=team)

    assert list_workers(plan) == names


def test_a_text_to_write_is_not_for_who_reads_the_only_table() -> None:
    table = {"shop.csv": "region,sales\nNorth,2\nSouth,3\n"}

    plan = make_plan(
        "What is the total of sales and write a slogan for the best region", table, team=MARKETS
    )

    assert [task.asked for task in plan.tasks] == ["What is the total of sales"]
    assert plan.untaken == ("write a slogan for the best region",)


def test_what_a_worker_needs_is_planned_before_it() -> None:
    plan = make_plan("Forge a gate from iron", team=make_team(CARDS, smith=("vet",)))

    assert list_workers(plan) == ["vet", "smith"]
    assert [edge.task for edge in plan.tasks[1].depends_on] == ["vet"]


def test_a_worker_that_begins_in_no_example_follows_another() -> None:
    shown = make_example("Look after the horse", {"vet": (), "smith": ("vet",)})

    assert list_workers(make_plan("Forge iron", team=make_team(CARDS, shown))) == ["vet", "smith"]


@pytest.mark.parametrize(
    ("described", "is_adopted"),
    [
        ("Sum the oats of sales.csv.", True),
        ("Sum oats in `store.csv`.", False),
        ("Sum the oats of Ostrava.", False),
        ("Sum 40 sacks of oats.", False),
    ],
)
def test_the_plan_of_an_example_is_taken_if_what_it_names_is_here(
    described: str, is_adopted: bool
) -> None:
    team = make_team(CARDS, make_example("Sum the oats", {"baker": ()}, described))

    plan = make_plan("Sum the oats", {"sales.csv": "oats\n"}, team=team)

    assert (plan.tasks[0].description == described) == is_adopted
    assert not plan.untaken


def test_tables_and_documents_go_to_who_reads_them() -> None:
    files = {"zoo.csv": "animal,visitors\nlion,2\n", "zoo.md": "The keepers of the lion are kind."}

    plan = make_plan(
        "How many visitors has each animal, and who are the keepers?", files, team=MARKETS
    )

    read = {task.worker: task.materials for task in plan.tasks}
    assert read["analyst"] == ("zoo.csv",) and read["researcher"] == ("zoo.md",)


@pytest.mark.skipif(not is_meaning_available(), reason="needs the extra `meaning`")
def test_a_table_is_read_for_a_word_that_means_much_the_same_as_a_column() -> None:
    files = {"staff.csv": "name,wage\nAnna,3200\n", "zoo.md": "Each keeper is kind."}

    plan = make_plan("What is the average salary?", files, team=MARKETS)

    assert "analyst" in list_workers(plan)


def test_a_table_is_read_though_a_worker_that_reads_none_is_nearer_to_the_question() -> None:
    team = make_team({"keeper": "Feeds one visitor.", "counter": "Reads sheets."})
    keeper, counter = team.workers
    counter = counter.model_copy(update={"tools": ("analyze_table",)})
    files = {"zoo.csv": "animal,visitors\nlion,2\n"}

    plan = make_plan(
        "How many visitors were fed in total?",
        files,
        team=team.model_copy(update={"workers": (keeper, counter)}),
    )

    assert "counter" in list_workers(plan)


@pytest.mark.parametrize("name", ["zoo.csv", "zoo.tsv", "zoo.xlsx", "my zoo.ods#Year 1"])
def test_a_question_on_nothing_but_a_table_is_for_the_worker_that_reads_tables(name: str) -> None:
    table = {name: "animal,visitors\nlion,2\nape,3\n"}

    plan = make_plan("Which lion has the most visitors?", table, team=MARKETS)

    assert list_workers(plan) == ["analyst"]


def test_each_refusal_leads_to_a_plainer_plan_and_at_last_to_one_task() -> None:
    text = "Scale the bread recipe and forge a gate"

    plans = [make_plan(text, refusals=n, team=YARD) for n in range(4)]

    assert [len(plan.tasks) for plan in plans] == [2, 1, 1, 1]


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "?", "`", "<request>", "Ω≈ç", "Zebras", "Wieviel kostet das Brot?"),
        *("x" * 9000, "and, and, and", ", ".join(["bread"] * 100), "a. b. c. " * 40),
    ],
)
@pytest.mark.parametrize("team", [MARKETS, YARD, make_team({"look": "Looks."})])
def test_any_request_has_a_plan(text: str, team: Team) -> None:
    assert make_plan(text, team=team).tasks


WORDS = st.sampled_from(
    [
        *("scale", "bread", "and", ",", "then", "animals", "forge", "gates", ".", "why", "Oslo"),
        *("zebra", "iron?", "check", "list;", "Acorn", "of"),
    ]
)


@given(st.lists(WORDS, max_size=30))
def test_every_word_of_a_request_is_in_a_task_or_untaken(words: list[str]) -> None:
    text = " ".join(words)

    plan = make_plan(text, team=YARD)

    covered = " ".join([*(task.asked for task in plan.tasks), *plan.untaken])
    assert set(extract_words(text)) <= set(extract_words(covered))


def test_a_task_that_failed_is_widened() -> None:
    wide = write_refinement(RefinementValues("Sum the sales: `SELECT 1`", "no such column"))

    assert "SELECT" not in wide["description"] and "Sum the sales" in wide["description"]
    assert "no such column" in wide["reason"]


def test_a_specialist_gets_the_tools_that_share_words_with_its_task() -> None:
    tools = {"measure_tide": "Measures the tide.", "count_bees": "Counts bees in a hive."}

    assert write_recruit(RecruitValues("Count the bees", tools))["tools"] == ["count_bees"]
    assert write_recruit(RecruitValues("Sing", tools))["tools"] == list(tools)


class TestEmbeddedUnit(ChatModelUnitTests):
    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return EmbeddedModel

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {}


def test_says_what_it_is_when_no_tool_is_offered() -> None:
    reply = EmbeddedModel().invoke([SystemMessage("Be nice."), HumanMessage("Hello")])

    assert "built-in embedded model" in reply.text
    assert "OPENAI_API_KEY" in reply.text
    assert reply.usage_metadata is not None


async def test_answers_alike_streamed_or_whole_again_and_again() -> None:
    messages = [HumanMessage("Bake bread")]
    model = EmbeddedModel().bind_tools([Plan], tool_choice="Plan")

    with lay_beside(PlanningValues(make_team({"baker": "Bakes bread."}), "Bake bread")):
        whole = [await model.ainvoke(messages), model.invoke(messages)]
        chunks = [chunk async for chunk in model.astream(messages)]
    streamed = reduce(add, chunks)

    assert isinstance(streamed, AIMessage)
    assert whole[0].tool_calls[0]["args"]["tasks"][0]["worker"] == "baker"
    assert whole[0].tool_calls == whole[1].tool_calls == streamed.tool_calls
    assert streamed.usage_metadata == whole[0].usage_metadata
    assert streamed.response_metadata["finish_reason"] == "tool_calls"


FIRST: dict[str, Any] = {
    "goal": "Find the leak",
    "tasks": [
        {"id": "look", "description": "Find the leak in the cellar pipe.", "worker": "plumber"},
        {"id": "count", "description": "Count litres lost by the meter.", "worker": "clerk"},
        {"id": "tell", "description": "Write of the leak.", "worker": "writer",
         "depends_on": ["look", "count"]},
    ],
}  # fmt: skip
REPLANNED = {
    "plumber": "Mends pipes and taps.",
    "clerk": "Counts litres and money.",
    "roofer": "Mends a roof and its slates.",
    "writer": "Writes letters.",
}
TEAM = make_team(REPLANNED)


def revise_plan(reason: str, *done: str, is_rejection: bool = False) -> Plan:
    results = [Report(task=name, worker="plumber", output="Done.") for name in done]
    revision = RevisionValues(
        Plan.model_validate(FIRST), results, (), reason, is_rejection=is_rejection
    )
    return make_plan("Find the leak and write of it", team=TEAM, revision=revision)


def test_a_finding_adds_a_task_for_the_worker_that_it_speaks_of() -> None:
    plan = revise_plan("look: the rain comes through the roof", "look", "count")

    edges = {task.id: [edge.task for edge in task.depends_on] for task in plan.tasks}
    assert edges == {"look": [], "count": [], "tell": ["look", "count", "roofer"], "roofer": []}


@pytest.mark.parametrize(
    ("reason", "done"),
    [
        ("look: qwertz", ["look"]),
        ("look: the pipes are sound", ["look"]),
        ("look: the roof", ["look", "count", "tell"]),
    ],
)
def test_a_finding_that_speaks_of_nobody_new_or_comes_last_leaves_the_plan(
    reason: str, done: list[str]
) -> None:
    plan = revise_plan(reason, *done)

    assert [task.id for task in plan.tasks] == ["look", "count", "tell"]


@pytest.mark.parametrize(
    ("reason", "workers"),
    [
        ("Use the clerk alone", ["clerk"]),
        ("only the plumber and the clerk, please", ["plumber", "clerk"]),
        ("without the writer", ["plumber", "clerk"]),
        ("Ask the roofer, not the plumber", ["clerk", "writer", "roofer"]),
    ],
)
def test_a_reason_that_names_workers_leaves_exactly_these(reason: str, workers: list[str]) -> None:
    plan = revise_plan(reason, is_rejection=True)

    assert [task.worker for task in plan.tasks] == workers


def test_who_waited_for_a_worker_that_a_reason_replaces_waits_for_the_new_one() -> None:
    plan = revise_plan("The roofer instead of the plumber", is_rejection=True)

    edges = {task.id: [edge.task for edge in task.depends_on] for task in plan.tasks}
    assert edges == {"count": [], "tell": ["count", "roofer"], "roofer": []}
