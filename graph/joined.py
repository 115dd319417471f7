"""Workers that join private data, strangers' text and a way outside: worth a warning."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from langchain_core.tools import BaseTool

from nodes.tools.access import UNKNOWN, Access, access_of, shipped
from nodes.tools.catalog import attribute
from state import SPECIALIST, Team

_PARTS: Final[dict[str, Callable[[Access], bool]]] = {
    "private data": lambda access: "private" in access.reads,
    "text of strangers": lambda access: "untrusted" in access.reads,
    "a way outside": lambda access: access.sends != "nothing",
}


def joined(team: Team) -> list[str]:
    """Say of each worker, and of the grant, that joins all three, which tools bring what.

    The run holds them apart whatever the team says; the warning is about what its workers then
    cannot do.
    """
    return list(_warnings(team))


def _warnings(team: Team) -> Iterator[str]:
    holders = [(worker.name, worker.tools) for worker in team.workers]
    for name, tools in [*holders, (SPECIALIST, team.grant)]:
        brought = {part: _bringing(tools, test) for part, test in _PARTS.items()}
        if all(brought.values()):
            said = ", ".join(f"{part} ({', '.join(names)})" for part, names in brought.items())
            who = "the grant of specialists" if name == SPECIALIST else f"worker {name}"
            yield (
                f"{who} joins {said}: once it has read private data it searches with words of the "
                "request alone; two workers would leave the web open"
            )
    for worker in team.workers:
        if worker.team is not None:
            yield from (f"{worker.name}: {text}" for text in _warnings(worker.team))


def _bringing(tools: Sequence[str], test: Callable[[Access], bool]) -> list[str]:
    return [name for name in tools if test(_access(name))]


def _access(name: str) -> Access:
    if ":" not in name:
        return shipped(name)
    try:
        found = attribute(name)
    except Exception:  # whatever a module does when it is imported: the run will tell
        return UNKNOWN
    # A function that makes a tool is not called here: what it takes is the run's.
    return access_of(found) if isinstance(found, BaseTool) else UNKNOWN
