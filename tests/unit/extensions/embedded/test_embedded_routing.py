"""Whom the embedded model routes a request to."""

import json
from typing import Any

import pytest

from extensions.embedded.planning import write_decision
from nodes.prompts import messages
from nodes.schemas.handoff import PlanningValues
from nodes.schemas.team import Team
from tests.unit.extensions.embedded.embedded_runs import make_example, make_team

YARD = {"vet": "Treats animals.", "smith": "Works iron."}
ALONE = [
    make_example("My lame horse limps", {"vet": ()}),
    make_example("Mend this rusty gate", {"smith": ()}),
]
PAIRED = make_team(YARD, *ALONE, make_example("Shoe my pony", {"smith": (), "vet": ()}))
PLANNED = make_team(
    YARD,
    *ALONE,
    make_example("Examine the hoof and forge a shoe for it", {"vet": (), "smith": ("vet",)}),
)


def route(team: Team, request: str, *materials: str) -> dict[str, Any]:
    return write_decision(PlanningValues(team, request, dict.fromkeys(materials, "")))


DESK = make_team(
    {
        "coder": "Mends a bug in code (py).",
        "finder": "Answers a question on facts.",
        "writer": "Writes letters.",
    }
)


@pytest.mark.parametrize(
    ("team", "request_text", "materials", "worker"),
    [
        (DESK, "There is a bug in the very long list of things that we wrote", (), "coder"),
        (DESK, "Something is odd here", ("shop.py",), "coder"),
        (DESK, "The facts, please", (), "finder"),
        (DESK, "Hello", ("shop.csv",), ""),
        (PAIRED, "The old gate hangs askew", (), "smith"),
        (PAIRED, "Why do horses limp?", (), "vet"),
        (PAIRED, "What is for dinner?", (), ""),
    ],
)
def test_it_routes_by_cards_examples_and_the_kinds_of_materials(
    team: Team, request_text: str, materials: tuple[str, ...], worker: str
) -> None:
    decided = route(team, request_text, *materials)

    assert decided["worker"] == worker
    assert decided["reason"]


@pytest.mark.parametrize(
    ("team", "request_text", "workers"),
    [
        (PAIRED, "A lame horse limps, and the gate is rusty", ("vet", "smith")),
        (PAIRED, "A lame horse limps at the gate", ("vet", "")),
        (PAIRED, "A pony wants a shoe", ("smith", "vet")),
        (make_team(YARD, *ALONE), "A lame horse limps, and the gate is rusty", ("vet", "")),
    ],
)
def test_it_names_a_second_worker_where_part_of_the_request_is_plainly_its(
    team: Team, request_text: str, workers: tuple[str, str]
) -> None:
    decided = route(team, request_text)

    assert (decided["worker"], decided["secondary"]) == workers


@pytest.mark.parametrize(
    ("request_text", "plans", "needs_plan"),
    [
        ("Examine my limping horse and forge an iron shoe for it", True, True),
        ("Examine my limping horse and forge an iron shoe for it", False, False),
        ("My pony limps", True, False),
        ("Forge a gate", True, False),
    ],
)
def test_a_request_for_workers_that_an_example_plans_needs_a_plan(
    request_text: str, plans: bool, needs_plan: bool
) -> None:
    team = PLANNED.model_copy(update={"plan_when_needed": plans})

    assert bool(route(team, request_text).get("needs_plan")) == needs_plan


def test_a_router_is_shown_whom_the_examples_go_to_and_no_plan() -> None:
    system = str(messages.build_route_messages(PAIRED, "x", [])[0].content)

    shown = {"worker": "smith", "task": "Do.", "secondary": "vet", "secondary_task": "Do."}
    assert f"<decision>\n{json.dumps(shown)}\n</decision>" in system
    assert "final_instruction" not in system
