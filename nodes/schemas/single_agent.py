"""A team as one agent, which holds the tools and the instructions of all workers; none plans.

The agent is the one worker of a team that is otherwise the same: caps, proof, redaction, confirmed
tools and taint hold as they do for several.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, get_args

from nodes.schemas.servers import split_tool_name
from state import Tier

if TYPE_CHECKING:
    from nodes.schemas.team import Team, Worker

SINGLE_AGENT: Final = "single_agent"
"""The name of the agent."""
MAX_TURNS: Final = 50
_TIERS: Final = get_args(Tier)
_OTHERS: Final = frozenset(("reassign", "split"))
"""Rungs that need another worker, or a plan."""
_OPENING: Final = """\
You do the whole request alone, with the tools of all specialists below. Do every part of it as the
specialist of that part would, and report on all of them in one report."""


def become_single(team: "Team") -> "Team":
    """Return the team with one worker that holds the tools of all, also of the teams within it.

    It does not hold workers on other servers, whose models and tools are there; nor, of two tools
    of one name, that of the inner team: `left_out` names them. Of turns, seconds and tokens it has
    the sum, of tiers the highest.
    """
    if is_single(team):
        return team
    held = _collect_tools(team)
    rules = [_list_rules(name, owner) for name, owner in held.servers.items()]
    own = {n: each.own_tools[n] for n, each in held.tools.items() if n in each.own_tools}
    return team.model_copy(
        update={
            "workers": (_build_agent(team, [*held.tools]),),
            "own_tools": own,
            "mcp_servers": {name: each.mcp_servers[name] for name, each in held.servers.items()},
            "access": {name: rule for _, access, _ in rules for name, rule in access.items()},
            "approve": tuple(name for _, _, approve in rules for name in approve),
            "ladder": tuple(rung for rung in team.ladder if rung not in _OTHERS),
            "strategy": "single",
            "routes": {},
            "plan_when_needed": False,
            "examples": (),
            "grant": (),
            "recruit": False,
            "generalist": "",
            "max_revisions": 0,
            "left_out": tuple(held.left_out),
        }
    )


def is_single(team: "Team") -> bool:
    """Return whether a team is the agent alone."""
    return [worker.name for worker in team.workers] == [SINGLE_AGENT]


@dataclass
class _Held:
    """What the agent holds, with the team by whose files it is defined: the outermost."""

    tools: "dict[str, Team]" = field(default_factory=dict)
    servers: "dict[str, Team]" = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def _collect_tools(team: "Team") -> _Held:
    """Return the tools of a team; of two that differ under one name, the agent holds the outer."""
    remote = [worker.name for worker in _walk_workers(team) if worker.remote]
    held = _Held(left_out=[f"the worker {name}, which is on another server" for name in remote])
    for part in _walk_teams(team):
        for server in part.mcp_servers:
            held.servers.setdefault(server, part)
        granted = part.grant if part.recruit else ()
        for name in (*(tool for worker in part.workers for tool in worker.tools), *granted):
            of_server = split_tool_name(name)
            owners = held.servers if of_server else held.tools
            owner = owners.get(of_server[0] if of_server else name, part)
            if owner is part or _define_alike(name, part, owner):
                held.tools.setdefault(name, owner)
            else:
                held.left_out.append(f"the tool {name} of team {part.name}: another has its name")
    return held


def _define_alike(tool: str, team: "Team", other: "Team") -> bool:
    if of_server := split_tool_name(tool):
        return _list_rules(of_server[0], team) == _list_rules(of_server[0], other)
    return team.own_tools.get(tool) == other.own_tools.get(tool)


def _list_rules(server: str, team: "Team") -> tuple[Any, Mapping[str, Any], Sequence[str]]:
    """Return a server of a team, and what the team's files say of the server's tools."""

    def is_about(name: str) -> bool:
        return (split_tool_name(name) or ("",))[0] == server

    access = {name: rule for name, rule in team.access.items() if is_about(name)}
    return team.mcp_servers.get(server), access, [*filter(is_about, team.approve)]


def _build_agent(team: "Team", tools: Sequence[str]) -> "Worker":
    workers = [each for each in _walk_workers(team) if not each.remote] or [*team.workers]
    limits = [each.limits for each in workers]
    highest = max((each.tier for each in workers), key=_TIERS.index)
    return workers[0].model_copy(
        update={
            "name": SINGLE_AGENT,
            "description": team.description,
            "keywords": "",
            "instructions": _join_instructions(team),
            "remote": None,
            "tools": tuple(tools),
            "tier": highest,
            "tiers": tuple(tier for tier in _TIERS if any(tier in each.tiers for each in workers)),
            "parameters": _keep_common([each.parameters for each in workers]),
            "fallback": "",
            "hands_over": False,
            "needs": (),
            "notice": "\n\n".join(dict.fromkeys(each.notice for each in workers if each.notice)),
            "reads_all": tuple(dict.fromkeys(kind for each in workers for kind in each.reads_all)),
            "limits": limits[0].model_copy(
                update={
                    "max_turns": min(MAX_TURNS, sum(each.max_turns for each in limits)),
                    "timeout_s": sum(each.timeout_s for each in limits),
                    "max_tokens": sum(each.max_tokens for each in limits),
                }
            ),
        }
    )


def _join_instructions(team: "Team") -> str:
    """Return the guidance and the instructions of a team, and of the teams within it."""
    texts = [_OPENING]
    for part in _walk_teams(team):
        texts.append(f"# {part.name}: {part.description}\n\n{part.guidance}")
        for worker in part.workers:
            if not worker.remote:
                texts.append(f"## {worker.name}: {worker.description}\n\n{worker.instructions}")
    return "\n\n".join(map(str.strip, texts))


def _keep_common(parameters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the parameters that are the same for all workers."""
    first = parameters[0]
    return {n: v for n, v in first.items() if all(n in e and e[n] == v for e in parameters)}


def _walk_teams(team: "Team") -> Iterator["Team"]:
    """Yield a team and the teams within it, the outermost first."""
    yield team
    for worker in team.workers:
        if worker.team:
            yield from _walk_teams(worker.team)


def _walk_workers(team: "Team") -> Iterator["Worker"]:
    """Yield the workers of a team, and of the teams within it, that are no teams themselves."""
    for part in _walk_teams(team):
        yield from (worker for worker in part.workers if not worker.team)
