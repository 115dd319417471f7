"""Describes a team for its page: workers, tools, servers and examples, without any path."""

from typing import Any, Final
from urllib.parse import urlsplit

from graph.teams.team_warnings import find_access, list_trifecta_notes, list_warnings
from nodes.schemas.servers import McpServer, matches_pattern
from nodes.schemas.team import SPECIALIST, Team, Worker

MAX_TEXT_CHARS: Final = 10_000
MAX_EXAMPLES: Final = 50


def describe_team(team: Team) -> dict[str, Any]:
    """Return what the page of a team shows of it, as JSON; texts are cut at `MAX_TEXT_CHARS`."""
    granted = [describe_tool(name, team) for name in team.grant]
    return {
        "name": team.name,
        "description": _cut(team.description),
        "strategy": team.strategy,
        "guidance": _describe_text(team.guidance),
        "notice": _cut(team.notice),
        "tiers": {
            "planner": team.planner_tier,
            "synthesizer": team.synthesizer_tier,
            "judge": team.judge_tier,
        },
        "limits": {
            "tasks": team.max_tasks,
            "attempts": team.max_attempts,
            "deadline_s": team.deadline_s,
            "cost_usd": team.max_cost_usd,
            "tokens": team.max_tokens,
        },
        "workers": [_describe_worker(worker, team) for worker in team.workers],
        "recruits": {"name": SPECIALIST, "tools": granted} if team.recruit else None,
        "servers": [_describe_server(name, each) for name, each in team.mcp_servers.items()],
        "examples": [
            {
                "request": _cut(example.request),
                "tasks": [
                    {
                        "id": task.id,
                        "worker": task.worker,
                        "needs": [edge.task for edge in task.depends_on],
                    }
                    for task in example.plan.tasks
                ],
            }
            for example in team.examples[:MAX_EXAMPLES]
        ],
        "warnings": [_cut(text) for text in list_warnings(team)],
        "notes": [_cut(text) for text in list_trifecta_notes(team)],
    }


def describe_tool(name: str, team: Team) -> dict[str, Any]:
    """Return what a tool of a team reads and sends, as declared, and where it is from."""
    access = find_access(name, team)
    own = team.own_tools.get(name)
    return {
        "name": name,
        "is_own": own is not None,
        "is_declared": own is None or own.is_declared,
        "asks": any(matches_pattern(name, pattern) for pattern in team.approve),
        **access.metadata,
    }


def _describe_worker(worker: Worker, team: Team) -> dict[str, Any]:
    inner = worker.team
    return {
        "name": worker.name,
        "description": _cut(worker.description),
        "instructions": _describe_text(worker.instructions),
        "tier": worker.tier,
        "tiers": list(worker.tiers),
        "fallback": worker.fallback,
        "tools": [describe_tool(name, team) for name in worker.tools],
        "team": inner and {"name": inner.name, "workers": [each.name for each in inner.workers]},
        "remote": worker.remote.describe() if worker.remote else "",
        "remote_access": worker.remote.access.model_dump(mode="json") if worker.remote else None,
        "limits": {
            "turns": worker.limits.max_turns,
            "timeout_s": worker.limits.timeout_s,
            "tokens": worker.limits.max_tokens,
        },
    }


def _describe_server(name: str, server: McpServer) -> dict[str, Any]:
    """Return a server without its arguments, which may hold a path or a key."""
    address = urlsplit(server.url)
    program = server.command.replace("\\", "/").rpartition("/")[2]
    return {
        "name": name,
        "transport": server.transport,
        "place": address.netloc.rpartition("@")[2] if server.url else program,
        "is_trusted": server.trust,
    }


def _describe_text(text: str) -> dict[str, Any]:
    return {"text": _cut(text.strip()), "chars": len(text.strip())}


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[: MAX_TEXT_CHARS - 1]}…"
