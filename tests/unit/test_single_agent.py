"""A team as one agent: what it holds, and what it does not."""

from pathlib import Path
from typing import Any

import pytest

from graph.settings import Settings
from graph.teams.team_loader import list_shipped_teams, load_team
from graph.topology.input_validation import require_grant
from nodes.errors import SettingsInvalid
from nodes.planning.team_record import build_team_record, require_same_team
from nodes.schemas.servers import McpServer, RemoteSpec
from nodes.schemas.single_agent import SINGLE_AGENT, become_single
from nodes.schemas.team import DeclaredAccess, Limits, OwnTool, Team, Worker
from state import Context
from tests.teams import make_team

SINGLE = Context(strategy="single")


def make_worker(name: str, **fields: Any) -> Worker:
    words = {"description": f"Is a {name}.", "instructions": f"Work as {name}."}
    return Worker.model_validate({"name": name, **words, **fields})


def build_team(*workers: Worker, **fields: Any) -> Team:
    return make_team(**{"workers": workers, "guidance": "Divide it.", **fields})


def get_agent(team: Team) -> Worker:
    (agent,) = team.apply_context(SINGLE).workers
    return agent


def test_the_agent_has_the_tools_the_words_and_the_limits_of_all_workers():
    one = make_worker("one", tools=["calculate"], tier="fast", limits={"max_turns": 30})
    two = make_worker("two", tools=["read_table"], tier="strong", tiers=["fast"], reads_all=["md"])
    agent = get_agent(build_team(one, two))

    assert agent.name == SINGLE_AGENT
    assert agent.tools == ("calculate", "read_table")
    assert (agent.tier, agent.tiers, agent.reads_all) == ("strong", ("fast",), ("md",))
    assert agent.limits == Limits(max_turns=40, timeout_s=240, max_tokens=32_000)
    assert all(words in agent.instructions for words in ("Divide it.", "as one.", "as two."))


def test_turns_stay_within_what_one_worker_may_have():
    workers = (make_worker(f"w{n}", limits={"max_turns": 30}) for n in range(3))

    assert get_agent(build_team(*workers)).limits.max_turns == 50


def test_only_what_all_workers_say_of_their_model_is_kept():
    one = make_worker("one", parameters={"temperature": 0.0, "top_p": 0.5})
    two = make_worker("two", parameters={"temperature": 0.0, "top_p": 0.9})

    assert get_agent(build_team(one, two)).parameters == {"temperature": 0.0}


def test_notices_of_all_workers_are_said_once():
    one, two = (make_worker(name, notice="No advice.") for name in ("one", "two"))

    assert get_agent(build_team(one, two)).notice == "No advice."


def test_the_team_is_otherwise_the_same_without_what_needs_a_planner_or_others():
    one, two = make_worker("one", fallback="two"), make_worker("two", needs=["one"])
    caps = {"deadline_s": 60.0, "critic": "on", "approve_plan": True, "min_confidence": 50}
    team = build_team(one, two, routes={"a": "one"}, generalist="one", **caps)

    alone = team.apply_context(SINGLE)

    assert {name: getattr(alone, name) for name in caps} == caps
    assert alone.ladder == ("refine", "tier", "assume")
    assert (alone.routes, alone.generalist, alone.recruit, alone.max_revisions) == (
        {},
        "",
        False,
        0,
    )
    assert not (alone.workers[0].fallback or alone.workers[0].needs)


def test_tools_and_servers_of_a_team_within_are_held_too():
    declared = {"mcp:shop/find": DeclaredAccess(reads=("untrusted",), sends="query")}
    inner = build_team(
        make_worker("seller", tools=["mcp:shop/find", "count"]),
        name="shop",
        own_tools={"count": OwnTool(folder=Path("shop/tools"), reads=(), sends="nothing")},
        mcp_servers={"shop": McpServer(url="https://shop.example")},
        access=declared,
        approve=("mcp:shop/find",),
    )
    nested = Worker(name="shop", description="Sells.", team=inner)
    alone = build_team(make_worker("one", tools=["calculate"]), nested).apply_context(SINGLE)

    assert alone.workers[0].tools == ("calculate", "mcp:shop/find", "count")
    assert alone.workers[0].team is None
    assert alone.own_tools == inner.own_tools and alone.mcp_servers == inner.mcp_servers
    assert alone.access == declared and alone.approve == ("mcp:shop/find",)
    assert not alone.left_out


def test_of_two_tools_of_one_name_the_outer_one_is_held_and_the_other_is_named():
    inner = build_team(make_worker("seller", tools=["count"]), name="shop")
    nested = Worker(name="shop", description="Sells.", team=inner)
    own = {"count": OwnTool(folder=Path("outer/tools"))}
    one = make_worker("one", tools=["count"])

    alone = build_team(one, nested, own_tools=own).apply_context(SINGLE)

    assert alone.own_tools == own and alone.workers[0].tools == ("count",)
    assert alone.left_out == ("the tool count of team shop: another has its name",)


def test_a_server_that_an_inner_team_trusts_more_does_not_become_more_trusted():
    server = {"shop": McpServer(url="https://shop.example")}
    lax = {"mcp:shop/*": DeclaredAccess(reads=(), sends="nothing", asks=False)}
    inner = build_team(
        make_worker("seller", tools=["mcp:shop/buy"]), name="in", mcp_servers=server, access=lax
    )
    nested = Worker(name="shop", description="Sells.", team=inner)
    outer = make_worker("one", tools=["mcp:shop/find"])

    alone = build_team(outer, nested, mcp_servers=server).apply_context(SINGLE)

    assert alone.access == {} and alone.workers[0].tools == ("mcp:shop/find",)
    assert alone.left_out == ("the tool mcp:shop/buy of team in: another has its name",)


def test_a_worker_on_another_server_is_not_held_and_named():
    far = Worker(
        name="far", description="Far.", remote=RemoteSpec(url="https://far.example", graph="a")
    )

    alone = build_team(make_worker("one", tools=["calculate"]), far).apply_context(SINGLE)

    assert alone.workers[0].tools == ("calculate",)
    assert alone.left_out == ("the worker far, which is on another server",)


def test_tools_that_specialists_may_get_are_held_where_the_team_makes_them():
    granted = build_team(make_worker("one"), grant=("calculate",), recruit=True)
    unused = build_team(make_worker("one"), grant=("calculate",))

    assert [get_agent(team).tools for team in (granted, unused)] == [("calculate",), ()]


def test_a_grant_for_a_run_of_one_agent_is_refused():
    team = build_team(make_worker("one"))

    with pytest.raises(SettingsInvalid, match="recruits no specialist"):
        require_grant(team, Context(strategy="single", recruit=("calculate",)))


def test_to_become_one_agent_twice_changes_nothing():
    alone = make_team().apply_context(SINGLE)

    assert become_single(alone) is alone and alone.apply_context(SINGLE) == alone


def test_a_run_of_one_agent_can_resume_with_the_same_team():
    team = make_team().apply_context(SINGLE)

    assert build_team_record(team).tools == {SINGLE_AGENT: ()}
    assert require_same_team(team, {"plan": None}) == []


@pytest.mark.parametrize("folder", list_shipped_teams(), ids=lambda path: path.name)
def test_each_shipped_team_can_be_one_agent(folder: Path):
    alone = load_team(folder, Settings()).apply_context(SINGLE)

    assert len(alone.workers) == 1 and alone.workers[0].tools
    assert all(name.startswith("the ") for name in alone.left_out)
