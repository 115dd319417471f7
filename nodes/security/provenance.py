"""Whose words a run is made of, and what those have read who worded its tasks."""

from collections.abc import Iterable

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from nodes.limits.run_scope import get_run_scope
from nodes.security.taint import Taint, merge_labels
from state import Origin, Report, SupervisorState, TaintLabel, Task, WorkerState


def build_request_origin(state: SupervisorState, request: str, config: RunnableConfig) -> Origin:
    """Return the origin of a new request: the user's words, and the marks of the thread's answers.

    The planner reads the earlier turns, so what they were made of has been read for this one too.
    """
    if handed := get_run_scope(config).origin:
        return handed
    messages = state.get("messages", [])
    said = [str(message.text) for message in messages if isinstance(message, HumanMessage)]
    is_first = all(isinstance(message, HumanMessage | SystemMessage) for message in messages)
    # Answers of unknown origin count as the worst, which is what an `Origin` begins with.
    marks = (
        ()
        if is_first
        else merge_labels(
            _read_origin(state).taint_labels, collect_report_labels(_list_reports(state))
        )
    )
    return Origin(user_text="\n".join(dict.fromkeys([*said, request])), taint_labels=marks)


def build_origin_after_results(state: SupervisorState) -> Origin:
    """Return the origin of tasks that are worded after results were read."""
    earlier = _read_origin(state)
    marks = merge_labels(earlier.taint_labels, collect_report_labels(_list_reports(state)))
    return earlier.model_copy(update={"taint_labels": marks})


def build_task_origin(task: Task, state: SupervisorState) -> Origin:
    """Give the origin of one task; one that was sent back was worded by a reader of the results."""
    return (
        build_origin_after_results(state)
        if task.id in state.get("notes", {})
        else _read_origin(state)
    )


def collect_report_labels(reports: Iterable[Report]) -> tuple[TaintLabel, ...]:
    """Join the marks of reports."""
    return merge_labels(*(report.taint_labels for report in reports))


def build_taint(state: WorkerState) -> Taint:
    """Begin an attempt with the marks of all that it is handed."""
    origin, materials = state.get("origin", Origin()), state.get("materials", {})
    handed: set[TaintLabel] = {*origin.taint_labels, *collect_input_labels(state)}
    said = "\n".join([origin.user_text, *state.get("answers", {}).values()])
    known = f"{said}\n{_join_trusted_text(state)}"
    if materials:
        handed.add("untrusted")
    if set(materials) - set(origin.public):
        handed.add("private")
    before = [address for report in _list_inputs(state) for address in report.addresses]
    found = dict.fromkeys([*origin.addresses, *before])
    return Taint(
        allowed_text=known, user_text=said, taint_labels=frozenset(handed), found_addresses=found
    )


def build_subteam_origin(state: WorkerState) -> Origin:
    """Return a task's origin to the team that does it: as it was, and what the team is told of.

    The task's materials are not counted here: inside, too, each task is handed its own.
    """
    taint, origin = build_taint(state), state.get("origin", Origin())
    clean = [report.task for report in _list_inputs(state) if "private" not in report.taint_labels]
    return Origin(
        user_text=taint.user_text,
        trusted_text=_join_trusted_text(state),
        taint_labels=merge_labels(origin.taint_labels, collect_input_labels(state)),
        addresses=taint.list_addresses(),
        public=(*origin.public, *(f"result {task}" for task in clean)),
    )


def collect_input_labels(state: WorkerState) -> tuple[TaintLabel, ...]:
    """Return the marks of earlier attempts, whose errors are told, and of the task's inputs."""
    attempts = state.get("attempts", {}).values()
    return merge_labels(
        collect_report_labels(_list_inputs(state)), *(attempt.taint_labels for attempt in attempts)
    )


def _join_trusted_text(state: WorkerState) -> str:
    """Give the words known beside the user's: the task's own count when a clean plan holds them."""
    origin = state.get("origin", Origin())
    own = "" if "private" in origin.taint_labels else state["task"].description
    return f"{origin.trusted_text}\n{own}".strip()


def _read_origin(state: SupervisorState) -> Origin:
    return state.get("origin") or Origin(user_text=state.get("request", ""))


def _list_reports(state: SupervisorState) -> Iterable[Report]:
    return [*state.get("results", {}).values(), *state.get("results_before_rework", {}).values()]


def _list_inputs(state: WorkerState) -> list[Report]:
    inputs = state.get("inputs", {})
    return [inputs[edge.task] for edge in state["task"].depends_on if edge.task in inputs]
