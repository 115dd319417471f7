"""Warnings of teams whose planner or whose workers' models must choose among too much."""

from pathlib import Path

import pytest

from graph.settings import Settings
from graph.teams.lethal_trifecta import list_trifecta_warnings
from graph.teams.team_loader import list_teams, load_team
from graph.teams.team_shape import list_shape_warnings
from nodes.schemas.team import Team, Worker
from tests.teams import make_team

NARROW = """
Read the delivery note. Report for each variety and grower the kilograms, the shelf and the date of
harvest; a crate without a label is a finding.
"""


def make_worker(name: str, description: str, **fields: object) -> Worker:
    return Worker.model_validate(
        {"name": name, "description": description, "instructions": NARROW, **fields}
    )


def make_fruit_team(*workers: Worker) -> Team:
    return Team.model_validate({**make_team().model_dump(), "workers": workers})


@pytest.mark.parametrize("folder", list_teams(Settings()), ids=lambda folder: Path(folder).name)
def test_no_shipped_team_gives_a_warning(folder):
    team = load_team(folder, Settings())

    assert list_shape_warnings(team) == [] and list_trifecta_warnings(team) == []


def test_descriptions_that_share_most_words_overlap():
    team = make_fruit_team(
        make_worker("counter", "Counts the crates of apples in the store."),
        make_worker("lister", "Counts crates of apples in each store, and lists them."),
        make_worker("cook", "Cooks soup for lunch."),
    )

    (warning,) = list_shape_warnings(team)
    assert warning.startswith("the descriptions of counter and lister overlap (4 of 4 words)")


def test_a_worker_with_more_than_fifteen_tools_is_named():
    tools = tuple(f"fruit.tools:tool_{number}" for number in range(16))
    team = make_fruit_team(make_worker("counter", "Counts apples.", tools=tools))

    (warning,) = list_shape_warnings(team)
    assert warning.startswith("worker counter has 16 tools, more than 15")


@pytest.mark.parametrize("words", ["Work.", "Do the task well, and give a good result."])
def test_instructions_that_fit_any_task_are_not_narrow(words):
    team = make_fruit_team(make_worker("counter", "Counts apples.", instructions=words))

    (warning,) = list_shape_warnings(team)
    assert warning.startswith("the instructions of worker counter add little to its description")


def test_a_team_inside_a_team_is_named_by_its_worker():
    inner = make_fruit_team(make_worker("counter", "Counts apples.", instructions="Count."))
    outer = make_fruit_team(make_worker("stock", "Knows the stock.", instructions="", team=inner))

    (warning,) = list_shape_warnings(outer)
    assert warning.startswith("stock: the instructions of worker counter add little")
