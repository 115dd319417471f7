"""What the page of a team is told: nothing that a viewer need not know."""

import json

from graph.settings import Settings
from graph.teams.team_card import describe_team
from graph.teams.team_loader import list_teams, load_team
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


def test_every_shipped_team_can_be_described_without_a_path():
    for folder in list_teams(Settings()):
        text = json.dumps(describe_team(load_team(folder)))

        assert str(folder) not in text
