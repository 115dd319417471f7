"""What the page of a team is told, and what a team is warned of."""

import json
from pathlib import Path

import pytest

from graph.settings import Settings
from graph.teams.team_card import describe_team
from graph.teams.team_loader import list_teams, load_team
from graph.teams.team_warnings import list_shape_warnings, list_trifecta_warnings
from nodes.schemas.team import Team, Worker
from tests.teams import make_team


def make_served_team() -> Team:
    clerk = Worker.model_validate(
        {
            "name": "clerk",
            "description": "Lists prices",
            "instructions": "List the prices.",
            "tools": ["mcp:shop/list_prices", "web_search"],
        }
    )
    far = Worker.model_validate(
        {
            "name": "far",
            "description": "Elsewhere",
            "remote": {
                "url": "https://anna:pass-word-1@far.example/a2a?key=hidden-key-1",
                "protocol": "a2a",
                "headers": {"x-key": "hidden-key-2"},
            },
        }
    )
    shop = {"command": "/opt/shop/bin/serve", "args": ["--key", "hidden-key-3"]}
    web = {"url": "https://anna:pass-word-2@mcp.example/x?key=hidden-key-4"}
    values = make_team().model_dump()
    values |= {"workers": (clerk, far), "mcp_servers": {"shop": shop, "web": web}}
    values |= {"approve": ("mcp:shop/*",)}
    return Team.model_validate(values)


def test_servers_and_remote_workers_are_named_without_keys_and_paths():
    card = describe_team(make_served_team())
    text = json.dumps(card)

    assert [each["place"] for each in card["servers"]] == ["serve", "mcp.example"]
    assert card["workers"][1]["remote"] == "A2A agent at far.example"
    for hidden in ("hidden-key", "pass-word", "/opt"):
        assert hidden not in text


def test_a_tool_that_declares_nothing_reads_and_sends_everything():
    prices, search = describe_team(make_served_team())["workers"][0]["tools"]

    assert (prices["reads"], prices["sends"]) == (["private", "untrusted"], "anything")
    assert prices["asks"]
    assert (search["reads"], search["sends"], search["asks"]) == (["untrusted"], "query", False)


@pytest.mark.slow
def test_every_shipped_team_can_be_described_without_a_path():
    for folder in list_teams(Settings()):
        text = json.dumps(describe_team(load_team(folder)))

        assert str(folder) not in text


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

    assert list(list_shape_warnings(team)) == [] and list_trifecta_warnings(team) == []


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
