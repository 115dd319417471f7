"""Faults that are injected at the wire, in tools, by caps or by humans, at random tasks."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.tools import BaseTool, tool

from nodes.errors import NothingToRead
from nodes.schemas.servers import RemoteSpec
from nodes.schemas.team import Limits, Team, Worker
from tests.endpoint import Fault, ScriptedTask
from tests.failing_tools import LOCAL_ACCESS, look
from tests.teams import make_team

REQUEST = "Compare the parts and say which one is best."
NOTES = {"notes.md": "The firm grew by 5 percent in 2024. It has 300 staff in two towns."}
NOBODY = "http://127.0.0.1:9"
"""No server listens there."""
GOOD = {"output": "It costs 42 euros.", "confidence": 90}
Truth = set[tuple[str, str]]
"""Kinds of causes, each with its task."""


@tool
async def wait_long() -> str:
    """Wait longer than any task may take."""
    await asyncio.sleep(60)
    return "done"


@tool
def read_file() -> str:
    """Read the file."""
    raise NothingToRead("there is no file; give one")


for each in (wait_long, read_file):
    each.metadata = LOCAL_ACCESS
TOOLS: dict[str, BaseTool] = {"look": look, "wait_long": wait_long, "read_file": read_file}


@dataclass
class Injection:
    """A run with its faults."""

    tasks: dict[str, ScriptedTask]
    names: list[str] = field(default_factory=list)
    planned: Truth = field(default_factory=set)
    """What its faults are, if they strike."""
    of_run: str = ""
    """The kind of a cap, whose task depends on time."""
    faults: list[Fault] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)
    context: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    ladder: tuple[str, ...] = ()
    stopped: str = ""
    """The task that a human stops."""
    is_rejected: bool = False

    def change(self, task: str, **changes: Any) -> None:
        """Change a scripted task."""
        self.tasks[task] = replace(self.tasks[task], **changes)


Inject = Callable[[Injection, str, random.Random], str]
"""Puts a fault into a run at a task; returns its kind."""


def break_wire(kind: str, fault: str, **how: Any) -> Inject:
    """Make a fault of all requests of a task."""

    def inject(run: Injection, task: str, dice: random.Random) -> str:
        run.faults.append(Fault(kind=fault, task=task, schema="Report", **how))  # type: ignore[arg-type]  # a word of the table below
        return kind

    return inject


def report(kind: str, **fields: Any) -> Inject:
    """Make a task report something."""

    def inject(run: Injection, task: str, dice: random.Random) -> str:
        run.change(task, report=fields)
        return kind

    return inject


def escalate(kind: str, reason: str) -> Inject:
    asked = {"reason": reason, "message": "Which of the two years is meant?"}
    return report(kind, output="", escalation=asked, confidence=20)


def quote(run: Injection, task: str, dice: random.Random) -> str:
    claim = {"text": f"Part {task} grew by 9 percent", "source": "notes.md"}
    claim["quotation"] = f"Part {task} of the firm grew by nine percent in 2024"
    run.change(task, materials=("notes.md",), report={**GOOD, "claims": [claim]})
    return "unproved_claim"


def use_tool(kind: str, name: str, worker: str = "looker", **arguments: Any) -> Inject:
    """Make a task call a tool that fails."""

    def inject(run: Injection, task: str, dice: random.Random) -> str:
        given = {"report": {"status": "failed", "output": "nothing"}} if name == "read_file" else {}
        run.change(task, worker=worker, tool_calls=((name, arguments),), **given)
        return kind

    return inject


def go_far(run: Injection, task: str, dice: random.Random) -> str:
    run.change(task, worker="far")
    return "remote_unreachable"


def be_slow(run: Injection, task: str, dice: random.Random) -> str:
    run.change(task, worker="quick", latency_s=9.0)
    return "out_of_time"


def hang(run: Injection, task: str, dice: random.Random) -> str:
    run.faults.append(Fault(kind="hang", task=task, schema="Report"))
    run.settings["call_timeout_s"] = 4.0
    return "call_timed_out"


def stop(run: Injection, task: str, dice: random.Random) -> str:
    run.change(task, latency_s=20.0)
    run.stopped = task
    return "stopped_by_human"


def pass_deadline(run: Injection, task: str, dice: random.Random) -> str:
    run.change(task, latency_s=30.0)
    run.context["deadline_s"] = 9.0
    return "deadline_passed"


AT_TASKS: dict[str, Inject] = {
    "HTTP 500": break_wire("endpoint_failed", "server_error", status=500),
    "HTTP 503": break_wire("endpoint_failed", "server_error"),
    "HTTP 429": break_wire("rate_limited", "rate_limited", retry_after="600"),
    "HTTP 401": break_wire("unauthorized", "unauthorized"),
    "quota": break_wire("quota_spent", "quota"),
    "unknown model": break_wire("model_unknown", "unknown_model"),
    "content filter": break_wire("request_refused", "content_filter"),
    "cut stream": break_wire("response_cut", "cut_stream"),
    "half body": break_wire("response_cut", "half_body"),
    "HTML": break_wire("bad_response", "html"),
    "reset": break_wire("endpoint_unreachable", "reset"),
    "prose": break_wire("unreadable_reply", "prose"),
    "broken arguments": break_wire("unreadable_reply", "broken_arguments"),
    "no answer": hang,
    "report fails": report("reported_failure", status="failed", output="The archive is closed."),
    "empty report": report("empty_report", output=""),
    "unclear": escalate("unclear_input", "ambiguous_input"),
    "out of scope": escalate("out_of_scope", "out_of_scope"),
    "too unsure": escalate("unsure", "confidence_too_low"),
    "invented quotation": quote,
    "tool raises": use_tool("tool_failed", "look", how="crashes"),
    "tool gives up": use_tool("tool_failed", "look", how="times out"),
    "tool does half": use_tool("tool_incomplete", "look", how="does half"),
    "tool refuses": use_tool("tool_refused", "look", how="refuses"),
    "tool hangs": use_tool("tool_timed_out", "wait_long", "waiter"),
    "no file": use_tool("file_missing", "read_file", "reader"),
    "worker's server gone": go_far,
    "worker too slow": be_slow,
}
ALONE: dict[str, Inject] = {"stopped": stop, "deadline": pass_deadline}
"""Faults at a task that decide how the whole run goes."""


def spend_budget(run: Injection, dice: random.Random) -> None:
    run.of_run, run.context["max_tokens"] = "budget_spent", 4_000 + 250 * len(run.tasks)


def spend_steps(run: Injection, dice: random.Random) -> None:
    run.of_run, run.context["max_steps"] = "steps_spent", dice.randint(1, len(run.tasks) - 1)


def plan_badly(run: Injection, dice: random.Random) -> None:
    bad = {"goal": "x", "tasks": [{"id": "a", "description": "Do it.", "worker": "nobody"}]}
    run.answers["Plan"], run.planned = bad, {("plan_invalid", "")}
    run.tasks["researcher"] = ScriptedTask(id="researcher", report=GOOD)  # of the plan by rule


def lose_planner(run: Injection, dice: random.Random) -> None:
    run.faults.append(Fault(kind="unauthorized", schema="Plan"))
    run.planned = {("unauthorized", "")}


def lose_synthesizer(run: Injection, dice: random.Random) -> None:
    run.faults.append(Fault(kind="server_error", schema="Answer"))
    run.planned = {("endpoint_failed", "")}


def answer_badly(run: Injection, dice: random.Random) -> None:
    run.answers["Answer"], run.planned = {"text": ""}, {("unreadable_reply", "")}


def reject_plan(run: Injection, dice: random.Random) -> None:
    run.is_rejected, run.planned = True, {("plan_rejected", "")}
    run.context["approve_plan"] = True


OF_RUNS: dict[str, Callable[[Injection, random.Random], None]] = {
    "budget": spend_budget,
    "steps": spend_steps,
    "bad plan": plan_badly,
    "planner 401": lose_planner,
    "synthesizer 503": lose_synthesizer,
    "bad answer": answer_badly,
    "plan rejected": reject_plan,
}


def fail_once(run: Injection, task: str, dice: random.Random) -> None:
    """Let a task meet a fault from which the run recovers."""
    wire = ("server_error", "rate_limited", "cut_stream", "prose", "broken_arguments", "reset")
    kind: Any = dice.choice((*wire, "report", "tool"))
    if kind == "report":
        run.change(task, report=[{"status": "failed", "output": "Not found."}, GOOD])
        run.ladder = ("refine", "tier")
    elif kind == "tool":
        calls = (("look", {"how": "crashes"}), ("look", {"how": "well"}))
        run.change(task, worker="looker", tool_calls=calls)
    else:
        after = "0" if kind == "rate_limited" else None
        one = Fault(kind=kind, task=task, schema="Report", nth=(1,), retry_after=after)
        run.faults.append(one)


def build_graph(dice: random.Random) -> dict[str, ScriptedTask]:
    """Return the tasks of a random graph; one edge in five is one that can be missing."""
    tasks: dict[str, ScriptedTask] = {}
    for number in range(dice.randint(3, 12)):
        known = list(tasks)
        needs = dice.sample(known, min(len(known), dice.choice((0, 1, 1, 2, 3))))
        edges = tuple({"task": each, "required": dice.random() < 0.8} for each in needs)
        name, worker = f"t{number + 1}", dice.choice(("researcher", "analyst", "writer"))
        tasks[name] = ScriptedTask(id=name, worker=worker, depends_on=edges, report=GOOD)
    return tasks


def draw(number: int, faults: int, seed: int) -> Injection:
    """Return a run with so many faults; none means none, or some that it recovers from."""
    dice = random.Random(f"{seed} {faults} {number}")
    run = Injection(build_graph(dice))
    run.ladder = dice.choice(((), ("tier",), ("refine", "tier", "split", "assume")))
    names = list(run.tasks)
    if faults == 0:
        for task in dice.sample(names, dice.choice((0, 1, 2))):
            fail_once(run, task, dice)
        return run
    choices = [*AT_TASKS, *(() if faults > 1 else (*ALONE, *OF_RUNS))]
    first = choices[number % len(choices)]
    chosen = [first, *dice.sample(list(AT_TASKS), faults - 1)]
    for name, task in zip(chosen, dice.sample(names, faults), strict=True):
        run.names.append(name)
        if name in OF_RUNS:
            OF_RUNS[name](run, dice)
        else:
            kind = {**AT_TASKS, **ALONE}[name](run, task, dice)
            run.planned.add((kind, task))
    return run


def build_team(run: Injection) -> Team:
    """Return workers without tools, and one for each way in which a tool or a server can fail."""

    def make(name: str, **fields: Any) -> Worker:
        words = {"description": f"Does what a {name} does.", "instructions": "Work."}
        return Worker(name=name, **{**words, **fields})

    caps = {"max_tasks": 1_000, "max_depth": 100, "max_steps": 5_000}
    revisions = 0 if run.is_rejected else 2
    team = make_team(ladder=run.ladder, max_revisions=revisions, **caps)
    workers = (
        make("looker", tools=("look",)),
        make("waiter", tools=("wait_long",), limits=Limits(timeout_s=3.0)),
        make("reader", tools=("read_file",)),
        make("quick", limits=Limits(timeout_s=3.0)),
        make("far", instructions="", remote=RemoteSpec(url=NOBODY, graph="g")),
    )
    return team.model_copy(update={"workers": (*team.workers, *workers)})
