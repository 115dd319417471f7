"""Warns of teams that choose unreliably, and of workers that combine what should be kept apart."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from langchain_core.tools import BaseTool

from graph.extensions import collect
from nodes.schemas.servers import split_tool_name
from nodes.schemas.team import SPECIALIST, Team, Worker
from nodes.security.tool_access import (
    UNDECLARED_ACCESS,
    ToolAccess,
    get_declared_access,
    read_access,
)
from nodes.text.terms import extract_terms, extract_words, is_generic, measure_overlap
from nodes.tools.framework.catalog import resolve_tool

MAX_WORKERS: Final = 7
"""From here on supervision is fragile; larger teams are divided into teams of teams."""
MAX_TOOLS: Final = 15
"""Of one worker; with more, models choose wrong ones."""
MAX_OVERLAP: Final = 0.5
"""Of the words of the shorter of two descriptions: beyond it they share most of them."""
MIN_SPECIFIC_WORDS: Final = 5
"""Of instructions: different words that do not fit any task and that the description lacks."""


def list_warnings(team: Team) -> list[str]:
    """Return all warnings about a valid team, those of extensions too."""
    found = [*list_shape_warnings(team), *list_trifecta_warnings(team)]
    return found + collect(lambda each: each.list_team_warnings(team))


def list_shape_warnings(team: Team) -> Iterator[str]:
    """Yield a warning for each thing that makes a choice in a team, or within it, unreliable."""
    if len(team.workers) > MAX_WORKERS:
        yield (
            f"{len(team.workers)} workers, more than {MAX_WORKERS}: a planner confuses them; "
            "make teams of them, and workers of these teams"
        )
    for left, right in combinations(team.workers, 2):
        words = extract_terms(left.description), extract_terms(right.description)
        if measure_overlap(*words) > MAX_OVERLAP:
            shared = f"{len(words[0] & words[1])} of {min(map(len, words))} words"
            yield (
                f"the descriptions of {left.name} and {right.name} overlap ({shared}): "
                "say what only one of them does, or make one worker of both"
            )
    for worker in team.workers:
        if worker.team is not None:
            yield from (f"{worker.name}: {text}" for text in list_shape_warnings(worker.team))
        elif worker.remote is None:
            yield from _find_worker_warnings(worker)


def _find_worker_warnings(worker: Worker) -> Iterator[str]:
    if len(worker.tools) > MAX_TOOLS:
        yield (
            f"worker {worker.name} has {len(worker.tools)} tools, more than {MAX_TOOLS}: "
            "divide them between two workers"
        )
    known = extract_terms(worker.description)
    specific = {
        word
        for word in extract_words(worker.instructions)
        if not is_generic(word) and extract_terms(word).isdisjoint(known)
    }
    if len(specific) < MIN_SPECIFIC_WORDS:
        yield (
            f"the instructions of worker {worker.name} add little to its description: say what it "
            "works on, how, and what its result holds"
        )


_TRIFECTA_TESTS: Final[dict[str, Callable[[ToolAccess], bool]]] = {
    "private data": lambda access: "private" in access.reads,
    "untrusted text": lambda access: "untrusted" in access.reads,
    "a way outside": lambda access: access.sends != "nothing",
}
_EXAMPLE: Final = '{"reads": ["private"], "sends": "nothing"}'


@dataclass(frozen=True)
class _Combination:
    """Tools of one worker, or of the grant, that combine all three."""

    who: str
    tools_by_part: Mapping[str, Sequence[str]]
    undeclared: Mapping[str, str]
    """How to declare the access of each tool that declares none, by its name or file."""


def list_trifecta_warnings(team: Team) -> list[str]:
    """Return a warning for each worker, and for the grant, that only undeclared tools restrict."""
    return [
        f"{place}{_advise(each)}" for place, each in _find_combinations(team) if each.undeclared
    ]


def list_trifecta_notes(team: Team) -> list[str]:
    """Return what each worker, and the grant, cannot do as its tools combine all three."""
    return [
        f"{place}{_describe(each)}"
        for place, each in _find_combinations(team)
        if not each.undeclared
    ]


def find_access(name: str, team: Team) -> ToolAccess:
    """Return what a tool of a team reads and sends; a tool named by its module is imported."""
    if ":" not in name or split_tool_name(name):
        return get_declared_access(name, team)
    try:
        found = resolve_tool(name)
    except Exception:  # an import can raise anything; the run reports it
        return UNDECLARED_ACCESS
    # A function that creates a tool is not called here, since only the run has its arguments.
    return read_access(found) if isinstance(found, BaseTool) else UNDECLARED_ACCESS


def _find_combinations(team: Team) -> Iterator[tuple[str, _Combination]]:
    """Yield each combination, with the names of the teams that it is in."""
    holders = [(worker.name, worker.tools) for worker in team.workers]
    for name, tools in [*holders, (SPECIALIST, team.grant)]:
        brought = {part: _select_tools(team, tools, test) for part, test in _TRIFECTA_TESTS.items()}
        if all(brought.values()):
            who = "a specialist" if name == SPECIALIST else f"worker {name}"
            yield "", _Combination(who, brought, _find_undeclared(team, tools))
    for worker in team.workers:
        if worker.team is not None:
            for place, each in _find_combinations(worker.team):
                yield f"{worker.name}: {place}", each


def _find_undeclared(team: Team, tools: Sequence[str]) -> dict[str, str]:
    """Return how to declare the access of each tool that declares none, by its name or file."""
    ways = {}
    for name in tools:
        if split_tool_name(name):
            if not team.find_declared_access(name):
                ways[name] = "it under access in team.md"
        elif name in team.own_tools:
            if not team.own_tools[name].is_declared:
                ways[f"tools/{name}.py"] = f"ACCESS = {_EXAMPLE}"
        elif find_access(name, team) == UNDECLARED_ACCESS:
            ways[name] = f"metadata={_EXAMPLE}"
    return ways


def _describe(each: _Combination) -> str:
    parts = ", ".join(f"{part} ({', '.join(names)})" for part, names in each.tools_by_part.items())
    return (
        f"{each.who} combines {parts}: once it has read private data, it searches only with words "
        "of the request"
    )


def _advise(each: _Combination) -> str:
    """Return which declarations are missing, and how one is written."""
    first, *others = each.undeclared
    names = ", ".join([first, *others])
    return (
        f"{names} {'do' if others else 'does'} not declare what is read and sent, so {each.who} is "
        f"treated as unsafe. Add {each.undeclared[first]}"
    )


def _select_tools(
    team: Team, tools: Sequence[str], test: Callable[[ToolAccess], bool]
) -> list[str]:
    return [name for name in tools if test(find_access(name, team))]
