"""Whose words a run is made of, and what those have read who worded its tasks."""

from collections.abc import Iterable

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from nodes.taint import Taint, merged
from state import Mark, Origin, Report, SupervisorState, Task, WorkerState

HANDED = "__origin"
"""Where a team that does a task finds the origin of that task in its config."""


def begun(state: SupervisorState, request: str, config: RunnableConfig) -> Origin:
    """Give the origin of a new request: the user's words, and the marks of the thread's answers.

    The planner reads the earlier turns, so what they were made of has been read for this one too.
    """
    handed = config["configurable"].get(HANDED)
    if isinstance(handed, Origin):
        return handed
    messages = state.get("messages", [])
    said = [str(message.text) for message in messages if isinstance(message, HumanMessage)]
    is_first = all(isinstance(message, HumanMessage | SystemMessage) for message in messages)
    # Answers of unknown origin count as the worst, which is what an `Origin` begins with.
    marks = () if is_first else merged(_earlier(state).marks, marks_of(_reports(state)))
    return Origin(said="\n".join(dict.fromkeys([*said, request])), marks=marks)


def reworded(state: SupervisorState) -> Origin:
    """Give the origin of tasks that are worded after results were read."""
    earlier = _earlier(state)
    marks = merged(earlier.marks, marks_of(_reports(state)))
    return earlier.model_copy(update={"marks": marks})


def origin_for(task: Task, state: SupervisorState) -> Origin:
    """Give the origin of one task; one that was sent back was worded by a reader of the results."""
    return reworded(state) if task.id in state.get("notes", {}) else _earlier(state)


def marks_of(reports: Iterable[Report]) -> tuple[Mark, ...]:
    """Join the marks of reports."""
    return merged(*(report.marks for report in reports))


def taint_of(state: WorkerState) -> Taint:
    """Begin an attempt with the marks of all that it is handed."""
    origin, materials = state.get("origin", Origin()), state.get("materials", {})
    handed: set[Mark] = {*origin.marks, *worded_after(state)}
    said = "\n".join([origin.said, *state.get("answers", {}).values()])
    known = f"{said}\n{_words(state)}"
    if materials:
        handed.add("untrusted")
    if set(materials) - set(origin.public):
        handed.add("private")
    before = [address for report in _inputs(state) for address in report.addresses]
    found = dict.fromkeys([*origin.addresses, *before])
    return Taint(known=known, said=said, marks=frozenset(handed), found=found)


def handed_on(state: WorkerState) -> Origin:
    """Give a task's origin to the team that does it: as it was, and what the team is told of.

    The task's materials are not counted here: inside, too, each task is handed its own.
    """
    taint, origin = taint_of(state), state.get("origin", Origin())
    clean = [report.task for report in _inputs(state) if "private" not in report.marks]
    return Origin(
        said=taint.said,
        words=_words(state),
        marks=merged(origin.marks, worded_after(state)),
        addresses=taint.addresses(),
        public=(*origin.public, *(f"result {task}" for task in clean)),
    )


def worded_after(state: WorkerState) -> tuple[Mark, ...]:
    """Give the marks of earlier attempts, whose errors are told, and of the task's inputs."""
    attempts = state.get("attempts", {}).values()
    return merged(marks_of(_inputs(state)), *(attempt.marks for attempt in attempts))


def _words(state: WorkerState) -> str:
    """Give the words known beside the user's: the task's own count when a clean plan holds them."""
    origin = state.get("origin", Origin())
    own = "" if "private" in origin.marks else state["task"].description
    return f"{origin.words}\n{own}".strip()


def _earlier(state: SupervisorState) -> Origin:
    return state.get("origin") or Origin(said=state.get("request", ""))


def _reports(state: SupervisorState) -> Iterable[Report]:
    return [*state.get("results", {}).values(), *state.get("withdrawn", {}).values()]


def _inputs(state: WorkerState) -> list[Report]:
    inputs = state.get("inputs", {})
    return [inputs[edge.task] for edge in state["task"].depends_on if edge.task in inputs]
