"""Whom the embedded model routes a request to, by the prompts that the application really sends."""

from collections.abc import Sequence

import pytest

from nodes.models.embedded import EmbeddedModel
from nodes.models.structured_output import ask_model
from nodes.prompts import messages
from nodes.schemas.beside import PlanningValues, lay_beside
from nodes.schemas.replies import Decision
from nodes.schemas.team import Example, Team, Worker
from state import Plan, Task


async def test_it_routes_to_the_worker_whose_card_is_nearest():
    workers = [
        Worker(name=name, description=card, instructions="Work.")
        for name, card in {
            "cook": "Writes recipes and menus for a kitchen.",
            "coder": "Writes and sorts lists with Python functions.",
        }.items()
    ]
    team = Team(name="two", description="d", guidance="g", workers=tuple(workers))

    routed = await route_request(team, "Sort this list with Python")

    assert routed.worker == "coder"
    assert routed.reason


def make_routing_team(**examples: list[str]) -> Team:
    workers = [
        Worker(name=name, description=card, instructions="Work.")
        for name, card in {"vet": "Treats animals.", "smith": "Works iron."}.items()
    ]
    shown = []
    for words, names in examples.items():
        tasks = tuple(Task(id=name, worker=name, description="Do.") for name in names)
        request = words.replace("_", " ")
        shown.append(Example(request=request, plan=Plan(goal="g", tasks=tasks)))
    fields = {"workers": tuple(workers), "examples": tuple(shown)}
    return Team(name="yard", description="d", guidance="g", **fields)


async def route_request(team: Team, request: str, materials: Sequence[str] = ()) -> Decision:
    asking = messages.build_route_messages(team, request, materials)
    with lay_beside(PlanningValues(team, request, dict.fromkeys(materials, ""))):
        return (await ask_model(EmbeddedModel(), Decision, asking)).value


async def test_it_routes_by_the_examples_of_a_worker():
    team = make_routing_team(My_horse_limps=["vet"], Mend_this_gate=["smith"])

    assert (await route_request(team, "The old gate hangs askew")).worker == "smith"
    assert (await route_request(team, "Why do horses limp?")).worker == "vet"
    assert (await route_request(team, "What is for dinner?")).worker == ""


async def test_it_names_a_second_worker_where_part_of_the_request_is_plainly_its():
    alone = {"My_lame_horse_limps": ["vet"], "Mend_this_rusty_gate": ["smith"]}
    team = make_routing_team(**alone, Shoe_my_pony=["smith", "vet"])
    without_pairs = make_routing_team(**alone)

    both = await route_request(team, "A lame horse limps, and the gate is rusty")
    one = await route_request(team, "A lame horse limps at the gate")
    shown = await route_request(team, "A pony wants a shoe")
    never = await route_request(without_pairs, "A lame horse limps, and the gate is rusty")

    assert (both.worker, both.secondary) == ("vet", "smith")
    assert (one.worker, one.secondary) == ("vet", "")
    assert (shown.worker, shown.secondary) == ("smith", "vet")
    assert never.secondary == ""


def test_a_router_is_shown_whom_the_examples_go_to_and_no_plan():
    team = make_routing_team(A_horse_pulls_a_gate=["vet", "smith"])

    system = str(messages.build_route_messages(team, "x", [])[0].content)

    assert '<decision>\n{"worker": "vet", "secondary": "smith"}\n</decision>' in system
    assert "final_instruction" not in system


CARDS = Team(
    name="desk",
    description="Routes.",
    guidance="Route.",
    workers=(
        Worker(name="coder", description="Mends a bug in code (py).", instructions="Mend."),
        Worker(name="finder", description="Answers a question on facts.", instructions="Find."),
        Worker(name="writer", description="Writes letters.", instructions="Write."),
    ),
)


@pytest.mark.parametrize(
    ("request_text", "materials", "worker"),
    [
        ("There is a bug somewhere in the very long list of things that we wrote", (), "coder"),
        ("Something is odd here", ("shop.py",), "coder"),
        ("The facts, please", (), "finder"),
        ("Hello", (), ""),
        ("Hello", ("shop.csv",), ""),
    ],
)
async def test_it_routes_by_the_words_of_the_request_and_the_kinds_of_its_materials(
    request_text, materials, worker
):
    decided = await route_request(CARDS, request_text, materials)

    assert decided.worker == worker


def make_planning_team() -> Team:
    """Make a team in which a smith's work may need a vet's, and one example shows it."""
    needed = Task.model_validate(
        {"id": "shoe", "worker": "smith", "description": "Do.", "depends_on": [{"task": "hoof"}]}
    )
    tasks = (Task(id="hoof", worker="vet", description="Do."), needed)
    planned = Example(
        request="Examine the hoof and forge a shoe that suits it", plan=Plan(goal="g", tasks=tasks)
    )
    team = make_routing_team(My_horse_limps=["vet"], Mend_this_gate=["smith"])
    examples = (*team.examples, planned)
    return team.model_copy(update={"plan_when_needed": True, "examples": examples})


async def test_a_request_like_one_that_was_planned_needs_a_plan():
    team = make_planning_team()

    decision = await route_request(team, "Examine my limping horse and forge an iron shoe for it")

    assert decision.needs_plan and decision.reason


@pytest.mark.parametrize("request_text", ["My pony limps", "Mend the old gate", "Forge a gate"])
async def test_a_request_for_one_worker_needs_no_plan(request_text: str):
    assert not (await route_request(make_planning_team(), request_text)).needs_plan


async def test_a_team_that_plans_no_request_is_shown_no_example_of_a_plan():
    team = make_planning_team().model_copy(update={"plan_when_needed": False})

    decision = await route_request(team, "Examine this limping horse, then forge a gate of iron")

    assert not decision.needs_plan
