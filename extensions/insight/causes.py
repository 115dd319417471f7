"""Explains a run: the first causes of what it lacks, by walking back from each effect."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from extensions.insight.fault_kinds import Remedy, get_fault_kind
from extensions.insight.faults import (
    Fault,
    find_unexplained,
    list_answer_texts,
    list_team_faults,
)
from extensions.insight.run_facts import Json, RunFacts, TaskFacts
from extensions.insight.task_faults import examine_task
from graph.display.labels import label_model, label_models
from graph.runs.event_log import FORM_ERRORS
from graph.runs.stopping import TaskUnknown
from graph.runs.trace import TraceUnreadable
from nodes.planning.skipping import STATUS_PHRASES
from nodes.text.counts import format_count
from nodes.text.plain_text import to_one_line

_LARGE: Final = frozenset(("handoff", "plan", "prompt", "reply", "report", "usage", "workers"))
"""Values of events that are left out: `supervise trace` has them."""
_CASE: Final = Remedy("command", "supervise case {thread}", "makes a row of the team's exam of it")
_MODEL: Final = Remedy("command", "supervise doctor", "says what to set for a language model")
MAX_DETAIL: Final = 180
MAX_TEXT: Final = 300
_PURPOSES: Final = {"planner": "plan", "synthesizer": "answer"}
_UNENDED: Final = "did not end"
Node = str | tuple[str, str]
"""A task by its path, the run's answer as an empty one, or a fault by its kind and place."""


@dataclass(frozen=True)
class Step:
    """A link from the visible effect to the cause: a task by its path, and what came of it."""

    task: str
    text: str


@dataclass(frozen=True)
class Cause:
    """The first event of a failure, and what helps."""

    kind: str
    task: str
    """Where it began; empty for the supervisor, or for the run."""
    worker: str
    sentence: str
    event: Json
    """As the trace has it, without its large parts; empty where no event has it."""
    chain: tuple[Step, ...]
    """From the effect that is furthest from it."""
    lost: tuple[str, ...]
    """All tasks that lack something for it."""
    remedies: tuple[Remedy, ...]
    mast: str
    """The number and name of a mode of the MAST taxonomy; empty where none fits."""

    def to_brief(self) -> dict[str, Any]:
        """Return what a page shows of it, as JSON."""
        remedies = [asdict(each) for each in self.remedies]
        return {"sentence": self.sentence, "tasks": list(self.lost), "remedies": remedies}


@dataclass(frozen=True)
class Explanation:
    """Why a run, or a task, is not whole."""

    thread: str
    status: str
    causes: tuple[Cause, ...]
    """Each independent of the others, in the order of the log."""
    stated_gaps: tuple[str, ...]
    """Gaps that a worker or the answer names, where no fault has led to any."""
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as one JSON object."""
        return asdict(self)


def explain(trace: Json, task: str = "") -> Explanation:
    """Return the first causes of what a run lacks, or of what one of its tasks lacks.

    A task that was skipped goes back to its required inputs, they to theirs; a team to its tasks; a
    call that a circuit breaker refused to the call that opened it. An error after which the work
    was done all the same is no cause.

    Args:
        trace: as `supervise trace` prints it; whatever it holds is data.
        task: its id; of a task inside a team `outer/inner`. Empty for the run.

    Raises:
        TaskUnknown: the run's last plan has no such task.
        TraceUnreadable: the trace has another form than this version reads.
    """
    try:
        facts = RunFacts(trace)
        if not (facts.events or facts.run.get("team")):
            raise TraceUnreadable(
                "the trace has no line that can be read", cause="it is empty, or damaged"
            )
        if task and task not in facts.tasks:
            known = to_one_line(", ".join(facts.tasks), 200) or "none"
            said = f"the run has no task {to_one_line(task, 80)!r}"
            raise TaskUnknown(said, next=f"tasks: {known}")
        return _explain(facts, task)
    except FORM_ERRORS as error:
        cause = f"{type(error).__name__} {to_one_line(error, 200)}"
        raise TraceUnreadable("the trace cannot be explained", cause=cause) from None


def _explain(facts: RunFacts, only: str) -> Explanation:
    faults, effects = _collect(facts)
    causes = []
    for key, fault in sorted(faults.items(), key=lambda pair: _get_place(pair[1])):
        parents = _walk(key, effects)
        own = (node for node in parents if isinstance(node, str))
        # What a team inside a task lacked, and the task overcame, is no cause.
        is_visible = any(not node or not facts.tasks[node].within for node in own)
        if only in parents or (not only and is_visible):
            causes.append(_build_cause(facts, fault, parents, only))
    gaps = () if only or causes else list_answer_texts(facts, "gaps")
    return Explanation(
        thread=to_one_line(facts.run.get("thread") or ""),
        status=to_one_line(facts.tasks[only].status if only else facts.status, 40),
        causes=tuple(causes),
        stated_gaps=tuple(to_one_line(gap, MAX_TEXT) for gap in gaps),
        notes=tuple(_list_notes(facts)),
    )


def _get_place(fault: Fault) -> int:
    return fault.event.at if fault.event else -1


def _collect(facts: RunFacts) -> tuple[dict[Node, Fault], dict[Node, list[Node]]]:
    """Return the faults by key, and all that goes back directly to a fault or a task."""
    faults, effects = dict[Node, Fault](), dict[Node, list[Node]]()

    def enter(found: Iterable[Fault], effect: str) -> None:
        for fault in found:
            kind = get_fault_kind(fault.kind)
            place = "" if kind.is_of_run else fault.task
            key = (fault.kind, f"{place} {fault.detail}" if kind.is_by_detail else place)
            known = faults.get(key, fault)
            is_earlier = (not fault.task, _get_place(fault)) < (not known.task, _get_place(known))
            faults[key] = fault if is_earlier else known
            effects.setdefault(key, []).append(effect)

    for task in facts.tasks.values():
        findings = examine_task(facts, task)
        for path in findings.blamed:
            effects.setdefault(path, []).append(task.path)
        enter(findings.faults, task.path)
    enter(list_team_faults(facts), "")
    if not faults and facts.status in ("partial", "failed"):
        enter([find_unexplained(facts)], "")
    return faults, effects


def _walk(key: Node, effects: Mapping[Node, list[Node]]) -> dict[Node, Node]:
    """Return all that goes back to a fault, nearest first, each with what it goes back to next."""
    parents, queue = dict[Node, Node](), deque([key])
    while queue:
        reason = queue.popleft()
        for effect in effects.get(reason, ()):
            if effect not in parents:
                parents[effect] = reason
                queue.append(effect)
    return parents


def _build_cause(facts: RunFacts, fault: Fault, parents: Mapping[Node, Node], only: str) -> Cause:
    kind, tool = get_fault_kind(fault.kind), to_one_line(fault.tool) or "a tool"
    own = [node for node in parents if isinstance(node, str)]
    lost = tuple(to_one_line(path) for path in own if path)
    others = len([path for path in own if path not in ("", fault.task)])
    said = to_one_line(fault.detail, MAX_TEXT)
    said = said.removeprefix(f"{tool} failed: ").removeprefix(f"{tool} is incomplete: ")
    detail = f": {to_one_line(said, MAX_DETAIL).rstrip('.')}" if said else ""
    after = f"; {format_count(others, 'other task')} lost with it" if others else ""
    place = to_one_line(_describe_place(facts, fault), MAX_TEXT)
    event = fault.event.data if fault.event else {}
    return Cause(
        kind=to_one_line(fault.kind),
        task=to_one_line(fault.task),
        worker=to_one_line(fault.worker),
        sentence=f"{place}, as {to_one_line(kind.words.format(tool=tool), 200)}{detail}{after}",
        event={
            to_one_line(key, 40): to_one_line(value, MAX_TEXT) if isinstance(value, str) else value
            for key, value in event.items()
            if key not in _LARGE and (isinstance(value, str) or len(str(value)) < 1_000)
        },
        chain=tuple(_list_steps(facts, only or own[-1], parents)),
        lost=lost,
        remedies=tuple(_fill_remedies(facts, fault)),
        mast=kind.mast,
    )


def _describe_place(facts: RunFacts, fault: Fault) -> str:
    of_team = f" of the team of {fault.task}" if fault.task else ""
    if fault.worker == "planner":
        return f"the plan{of_team} is not as it should be"
    if fault.worker == "synthesizer":
        return f"the answer{of_team} has a gap"
    if task := facts.tasks.get(fault.task):
        by = f" ({fault.worker})" if fault.worker else ""
        return f"task {task.path}{by} {_describe_status(task)}"
    return "the run ended early"


def _describe_status(task: TaskFacts) -> str:
    if task.status == "completed":
        return "has a gap" if task.is_whole else "lacks a part"
    return next((said for name, said in STATUS_PHRASES.items() if name == task.status), _UNENDED)


def _list_steps(facts: RunFacts, start: str, parents: Mapping[Node, Node]) -> Iterator[Step]:
    node: Node = start
    while isinstance(node, str):
        task, name = facts.tasks.get(node), to_one_line(node)
        yield Step(name, f"{name} {_describe_status(task)}" if task else "the answer has a gap")
        node = parents[node]


def _fill_remedies(facts: RunFacts, fault: Fault) -> Iterator[Remedy]:
    kind, event = get_fault_kind(fault.kind), fault.event
    tier = _find_tier(facts, fault)
    provider = (event.read("model") if event else "").partition(":")[0]
    values = {
        "worker": fault.worker or "team",
        "tool": fault.tool or "NAME",
        "tier": tier.upper() if tier in ("fast", "strong") else "STANDARD",
        "provider": provider.upper() or "OPENAI",
        "thread": facts.run.get("thread") or "last",
        "option": fault.option or "--max-cost",
    }
    remedies = (*kind.remedies, *([_CASE] if kind.makes_case else []))
    if {*label_models(facts.run.get("models"))} == {label_model("embedded")}:
        # No file's words and no row of an exam change what is answered without a model.
        own, of_model = ("request", "file"), "SUPERVISE_MODEL_"
        kept = [r for r in kind.remedies if r.kind in own or not kind.makes_case]
        remedies = tuple(r for r in kept if not r.name.startswith(of_model))
        remedies += (_MODEL,) if kind.makes_case else ()
    for remedy in remedies:
        yield replace(remedy, name=to_one_line(remedy.name.format(**values), 200))


def _find_tier(facts: RunFacts, fault: Fault) -> str:
    """Return the tier of the model that was at work, by its own calls; empty where it made none."""
    task, purpose = facts.tasks.get(fault.task), _PURPOSES.get(fault.worker)
    calls = [e for each in task.attempts for e in each] if task and not purpose else []
    if purpose:
        calls = facts.select_calls(purpose, fault.task) or facts.select("model_call")
    found = (fault.event, *reversed(calls))
    return next((e.read("tier") for e in found if e and e.read("tier")), "")


def _list_notes(facts: RunFacts) -> Iterator[str]:
    if facts.status == "needs_input":
        yield "it waits for a human's reply, which is no failure: supervise inbox"
    if facts.status == "running":
        yield "it has not ended: it is at work, or its process was ended"
    if facts.backwards_s > 0:
        back = f"{facts.backwards_s:,.1f} s"
        yield f"its clock went back by {back}: the order is that of the log, not of the seconds"
