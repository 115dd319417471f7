"""Explains a run: the first causes of what it lacks, by walking back from each effect."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from extensions.insight.fault_kinds import Remedy, get_fault_kind
from extensions.insight.faults import Fault, is_complete, list_gaps, list_team_faults
from extensions.insight.run_facts import Json, LoggedEvent, RunFacts, TaskFacts, as_text, read_facts
from extensions.insight.task_faults import examine_task
from graph.runs.event_log import FORM_ERRORS
from graph.runs.stopping import TaskUnknown
from graph.runs.trace import TraceUnreadable
from nodes.planning.skipping import STATUS_PHRASES
from nodes.text.counts import format_count

_LARGE: Final = frozenset(("handoff", "plan", "prompt", "reply", "report", "usage", "workers"))
"""Values of events that are left out: `supervise trace` has them."""
MAX_DETAIL: Final = 180
MAX_STEPS: Final = 12
"""Of a chain that are listed; the middle of a longer one is left out."""
_CASE: Final = Remedy("command", "supervise case {thread}", "makes a row of the team's exam of it")
Node = str | tuple[str, str]
"""A task by its path, or a fault by its kind and task."""


@dataclass(frozen=True)
class Step:
    """A link from the visible effect to the cause."""

    task: str
    """A path; empty for the run's answer."""
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


@dataclass(frozen=True)
class Explanation:
    """Why a run, or a task, is not whole."""

    thread: str
    status: str
    causes: tuple[Cause, ...]
    """Each independent of the others, in the order of the log."""
    stated_gaps: tuple[str, ...] = ()
    """Gaps that a worker or the answer names, and that no fault has led to."""
    notes: tuple[str, ...] = ()

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
        facts = read_facts(trace)
        if task and task not in facts.tasks:
            known = as_text(", ".join(facts.tasks), 200) or "none"
            raise TaskUnknown(f"the run has no task {as_text(task, 80)!r}", next=f"tasks: {known}")
        return _explain(facts, task)
    except FORM_ERRORS as error:
        cause = f"{type(error).__name__} {as_text(str(error), 200)}"
        raise TraceUnreadable("the trace cannot be explained", cause=cause) from None


def _explain(facts: RunFacts, only: str) -> Explanation:
    faults, edges = _collect(facts)
    effects: dict[Node, list[Node]] = {}
    for effect, reasons in edges.items():
        for reason in reasons:
            effects.setdefault(reason, []).append(effect)
    found = []
    for key, fault in faults.items():
        parents = _walk(key, effects)
        # What a team inside a task lacked, and the task overcame, is no cause.
        if only in parents or (not only and any(_is_visible(facts, node) for node in parents)):
            found.append(_build_cause(facts, fault, parents, only))
    found.sort(key=lambda pair: pair[0])
    causes = tuple(cause for _, cause in found)
    explained = " ".join(cause.sentence for cause in causes)
    stated = () if only or not (is_complete(facts) or not causes) else list_gaps(facts)
    return Explanation(
        thread=as_text(facts.run.get("thread")),
        status=facts.tasks[only].status if only else facts.status,
        causes=causes,
        stated_gaps=tuple(gap for gap in stated if gap.rpartition(": ")[2] not in explained),
        notes=tuple(_list_notes(facts)),
    )


def _is_visible(facts: RunFacts, node: Node) -> bool:
    """Return whether an effect is the run's own, and not only that of a team inside a task."""
    return node == "" or (isinstance(node, str) and not facts.tasks[node].within)


def _collect(facts: RunFacts) -> tuple[dict[Node, Fault], dict[Node, list[Node]]]:
    """Return the faults by key, and from each task what it goes back to."""
    faults, edges = dict[Node, Fault](), dict[Node, list[Node]]()

    def enter(found: Iterable[Fault], effect: str) -> None:
        for fault in found:
            kind = get_fault_kind(fault.kind)
            key = (fault.kind, "" if kind.is_of_run else fault.task)
            known = faults.get(key, fault)
            faults[key] = fault if _rank(fault) < _rank(known) else known
            edges.setdefault(effect, []).append(key)

    for task in facts.tasks.values():
        findings = examine_task(facts, task)
        edges.setdefault(task.path, []).extend(findings.blamed)
        enter(findings.faults, task.path)
    enter(list_team_faults(facts), "")
    if not faults and facts.status in ("partial", "failed"):
        answers = facts.select("answer", "error")
        gaps = list_gaps(facts) or [""]
        enter([Fault("unexplained", "", "", answers[-1] if answers else None, gaps[0])], "")
    return faults, edges


def _rank(fault: Fault) -> tuple[bool, int]:
    """Return what orders the faults of one key: those of a task first, then as they happened."""
    return not fault.task, fault.event.at if fault.event else 0


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


def _build_cause(
    facts: RunFacts, fault: Fault, parents: Mapping[Node, Node], only: str
) -> tuple[int, Cause]:
    """Return the place of a cause in the log, and the cause."""
    lost = tuple(node for node in parents if isinstance(node, str) and node)
    kind = get_fault_kind(fault.kind)
    others = len([path for path in lost if path != fault.task])
    tool = fault.tool or "a tool"
    words = kind.words.format(tool=tool)
    said = fault.detail.removeprefix(f"{tool} failed: ").removeprefix(f"{tool} is incomplete: ")
    detail = f": {as_text(said, MAX_DETAIL).rstrip('.')}" if said else ""
    after = f"; {format_count(others, 'other task')} lost with it" if others else ""
    cause = Cause(
        kind=fault.kind,
        task=fault.task,
        worker=fault.worker,
        sentence=f"{_describe_place(facts, fault)}, as {words}{detail}{after}",
        event=_shorten(fault.event.data) if fault.event else {},
        chain=tuple(_list_steps(facts, only or _find_furthest(parents), parents)),
        lost=lost,
        remedies=tuple(_fill_remedies(facts, fault)),
        mast=kind.mast,
    )
    return fault.event.at if fault.event else -1, cause


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
    return next(
        (said for name, said in STATUS_PHRASES.items() if name == task.status), "did not end"
    )


def _find_furthest(parents: Mapping[Node, Node]) -> str:
    return next((node for node in reversed(list(parents)) if isinstance(node, str)), "")


def _list_steps(facts: RunFacts, start: str, parents: Mapping[Node, Node]) -> Iterator[Step]:
    steps, node = list[Step](), start
    while node in parents:
        task = facts.tasks.get(node)
        said = f"{node} {_describe_status(task)}" if task else "the answer has a gap"
        steps.append(Step(node, said))
        reason = parents[node]
        node = reason if isinstance(reason, str) else "\0"
    left = len(steps) - MAX_STEPS
    if left > 0:
        middle = Step("", f"… {format_count(left, 'more task')} …")
        steps[MAX_STEPS // 2 : MAX_STEPS // 2 + left] = [middle]
    yield from steps


def _shorten(event: Json) -> Json:
    """Return an event without its large values, and with short texts."""
    kept = {key: value for key, value in event.items() if key not in _LARGE}
    return {
        as_text(key, 40): as_text(value) if isinstance(value, str) else value
        for key, value in kept.items()
        if isinstance(value, str | int | float) or len(str(value)) < 1_000
    }


def _fill_remedies(facts: RunFacts, fault: Fault) -> Iterator[Remedy]:
    kind, event = get_fault_kind(fault.kind), fault.event
    model = event.read("model") if event else ""
    values = {
        "worker": fault.worker or "team",
        "tool": fault.tool or "NAME",
        "tier": _find_tier(event),
        "provider": model.partition(":")[0].upper() or "OPENAI",
        "thread": as_text(facts.run.get("thread")) or "last",
        "option": fault.option or "--max-cost",
    }
    for remedy in (*kind.remedies, *([_CASE] if kind.makes_case else [])):
        yield replace(remedy, name=remedy.name.format(**values))


def _find_tier(event: LoggedEvent | None) -> str:
    tier = event.read("tier") if event else ""
    return tier.upper() if tier in ("fast", "standard", "strong") else "STANDARD"


def _list_notes(facts: RunFacts) -> Iterator[str]:
    if facts.status == "needs_input":
        yield "it waits for a human's reply, which is no failure"
    if facts.status == "running":
        yield "it has not ended: it is at work, or its process was ended"
    if facts.backwards_s > 0:
        back = f"{facts.backwards_s:,.1f} s"
        yield f"its clock went back by {back}: the order is that of the log, not of the seconds"
