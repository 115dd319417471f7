"""The work that the tests of takeover give to a cluster, and what they count of it."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import httpx
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import LangGraphError

from graph.topology.run_start import CONTINUE_KEY
from nodes.limits.patterns import Pattern
from tests.cluster.cluster import TEAM
from tests.endpoint import Endpoint, Scenario

EDGES: Final[Mapping[str, tuple[str, ...]]] = {
    **{f"a{n}": () for n in range(1, 7)},
    "b1": ("a1", "a2"),
    "b2": ("a3",),
    "b3": ("a4", "a5"),
    "c1": ("b1", "b2"),
    "c2": ("b3", "a6"),
    "d1": ("c1", "c2"),
}
"""Twelve tasks in four layers."""
END_TIMEOUT_S: Final = 180.0
_NAME: Final = Pattern(r"part (r\d+)\b")
_TASK: Final = Pattern(r"(r\d+)-.+")
_ENDED: Final = ("success", "error", "interrupted", "timeout")


def build_scenario(task_s: float = 0.5, **more: Any) -> Scenario:
    """Return what the endpoint plays: the twelve tasks, named after the run that asks for them."""
    answers = {"Plan": build_plan, **more.pop("answers", {})}
    return Scenario(
        answers=answers, latency_s={"Plan": 0.5, "Report": task_s, "Answer": 0.3}, **more
    )


def build_plan(body: dict[str, Any]) -> dict[str, Any]:
    """Return a plan whose tasks carry the run's name, so that calls can be counted by run."""
    found = _NAME.search(str(body["messages"]))
    name = found[1] if found else "r00"
    tasks = [
        {
            "id": f"{name}-{task}",
            "description": f"Write {task}.md: name the figures of {task} and the source of each.",
            "worker": "researcher",
            "depends_on": [f"{name}-{each}" for each in needed],
        }
        for task, needed in EDGES.items()
    ]
    return {
        "goal": f"Compare part {name} and say which one is best.",
        "tasks": tasks,
        "aggregation": "merge",
        "final_instruction": "Bring the parts together in one page.",
    }


@dataclass(frozen=True)
class Expected:
    """How a run should end."""

    status: str = "done"
    tasks: int | None = len(EDGES)
    """That are completed; None if it does not matter."""
    plans: int = 1
    messages: int = 1
    """Of ours in the chat: the answer, and the questions before."""


@dataclass(frozen=True)
class StartedRun:
    """A run that a client has asked for."""

    name: str
    thread: str
    run: str
    asked_s: float
    """On the clock of `time.monotonic`."""


@dataclass(frozen=True)
class EndedRun:
    """What a client reads of a run after its end."""

    started: StartedRun
    status: str
    error: str
    values: Mapping[str, Any]
    real_s: float

    def list_problems(self, expected: "Expected") -> list[str]:
        """Return what is not as expected; empty if the run is right."""
        if self.status != "success":
            return [f"{self.started.name}: {self.status} {self.error[:160]}"]
        results = self.values.get("results") or {}
        done = {name for name, each in results.items() if each["status"] == "completed"}
        answers = [each for each in self.values.get("messages") or () if each["type"] == "ai"]
        plans = len(self.values.get("plans") or ())
        checks = {
            f"status {self.values.get('status')}": self.values.get("status") != expected.status,
            f"{len(done)} tasks": expected.tasks not in (None, len(done)),
            f"{len(answers)} messages": len(answers) != expected.messages,
            f"{plans} plans": plans != expected.plans,
        }
        return [f"{self.started.name}: {what}" for what, is_wrong in checks.items() if is_wrong]


@dataclass(frozen=True)
class CallCount:
    """The calls of some runs, as the endpoint saw them."""

    planned: Mapping[str, int]
    """Whole planner calls by run."""
    answered: Mapping[str, int]
    """Reports by task that the endpoint sent to the end, to a client that was there."""
    cut: int
    """Calls whose client went away, as at a kill."""
    total: int

    @property
    def again(self) -> int:
        """How often the report of a task was sent once more."""
        return sum(count - 1 for count in self.answered.values())


@dataclass
class Outcome:
    """The figures of one experiment: a row of the table."""

    what: str
    runs: Sequence[EndedRun]
    calls: CallCount
    recovered_s: float | None = None
    """From the fault until the last run that it hit was on another server."""
    repeated: int = 0
    """Calls for tasks whose report was saved before the fault."""
    expected: Expected = Expected()
    more_problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        """What is wrong, over all runs."""
        found = [each for run in self.runs for each in run.list_problems(self.expected)]
        return found + self.more_problems

    def count_right(self) -> int:
        """Return the number of runs that ended as expected."""
        return sum(not run.list_problems(self.expected) for run in self.runs)


async def start_run(
    client: LangGraphClient, name: str, *, team: str = TEAM, **more: Any
) -> StartedRun:
    """Start a run on a new thread."""
    thread = (await client.threads.create())["thread_id"]
    asked = {"request": f"Compare part {name} and say which one is best."}
    at_s = time.monotonic()
    run = await client.runs.create(thread, team, input=asked, **more)
    return StartedRun(name, thread, run["run_id"], at_s)


async def continue_run(client: LangGraphClient, ended: StartedRun) -> StartedRun:
    """Continue a run that has ended with an error."""
    run = await client.runs.create(ended.thread, TEAM, input={CONTINUE_KEY: True})
    return replace(ended, run=run["run_id"])


async def wait_for_ends(
    client: LangGraphClient, runs: Sequence[StartedRun], timeout_s: float = END_TIMEOUT_S
) -> list[EndedRun]:
    """Return all runs when they have ended; raise TimeoutError if they do not."""
    async with asyncio.timeout(timeout_s):
        return list(await asyncio.gather(*(wait_for_end(client, each) for each in runs)))


async def wait_for_end(client: LangGraphClient, started: StartedRun) -> EndedRun:
    """Return a run when it has ended, through outages of the server."""
    while True:
        try:
            run: Any = await client.runs.get(started.thread, started.run)
            if run["status"] in _ENDED:
                real_s = time.monotonic() - started.asked_s
                state: Any = await client.threads.get_state(started.thread)
                error = str(run.get("error_message") or run.get("error") or "")
                return EndedRun(started, run["status"], error, state["values"] or {}, real_s)
        except (httpx.HTTPError, LangGraphError):
            pass
        await asyncio.sleep(0.1)


def count_calls(endpoint: Endpoint) -> CallCount:
    """Count the calls so far."""
    calls = list(endpoint.requests)
    whole = [each for each in calls if each.ended_s is not None and not each.client_gone]
    planned = Counter(_read_run(each.body) for each in whole if each.schema == "Plan")
    answered = Counter(
        each.task for each in whole if each.schema == "Report" and _TASK.fullmatch(each.task)
    )
    cut = sum(each.client_gone for each in calls)
    return CallCount(dict(planned), dict(answered), cut, len(calls))


def _read_run(body: Mapping[str, Any]) -> str:
    found = _NAME.search(str(body.get("messages")))
    return str(found[1]) if found else ""
