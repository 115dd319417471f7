"""Origin of a run's words: who wrote them, and what the writers of its tasks had read."""

from collections.abc import Iterable

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from nodes.limits.run_scope import get_run_scope
from nodes.security.taint import Taint, merge_labels
from state import Origin, Report, SupervisorState, TaintLabel, Task, WorkerState


def build_request_origin(state: SupervisorState, request: str, config: RunnableConfig) -> Origin:
    """Return the origin of a new request: the user's words, and the labels of the thread's answers.

    The planner reads the earlier turns, so whatever was read for them counts for this one too.
    """
    if inherited := get_run_scope(config).origin:
        return inherited
    messages = state.get("messages", [])
    user_turns = [str(message.text) for message in messages if isinstance(message, HumanMessage)]
    is_first = all(isinstance(message, HumanMessage | SystemMessage) for message in messages)
    # Answers of unknown origin get all labels, which are the default of an `Origin`.
    labels = (
        ()
        if is_first
        else merge_labels(
            _read_origin(state).taint_labels, collect_report_labels(_list_reports(state))
        )
    )
    turns = user_turns if request in user_turns[-1:] else [*user_turns, request]
    return Origin(user_text="\n".join(turns), taint_labels=labels)


def build_origin_after_results(state: SupervisorState) -> Origin:
    """Return the origin of tasks that are written after results were read."""
    earlier = _read_origin(state)
    labels = merge_labels(earlier.taint_labels, collect_report_labels(_list_reports(state)))
    return earlier.model_copy(update={"taint_labels": labels})


def build_task_origin(task: Task, state: SupervisorState) -> Origin:
    """Return the origin of a task; the critic, who reads results, rewrites a task it sends back."""
    return (
        build_origin_after_results(state)
        if task.id in state.get("notes", {})
        else _read_origin(state)
    )


def collect_report_labels(reports: Iterable[Report]) -> tuple[TaintLabel, ...]:
    """Return the labels of all reports together."""
    return merge_labels(*(report.taint_labels for report in reports))


def build_taint(state: WorkerState) -> Taint:
    """Return the taint that an attempt starts with: the labels of all its inputs."""
    origin, materials = state.get("origin", Origin()), state.get("materials", {})
    labels: set[TaintLabel] = {*origin.taint_labels, *collect_input_labels(state)}
    user_text = "\n".join([origin.user_text, *state.get("answers", {}).values()])
    known = f"{user_text}\n{_join_trusted_text(state)}"
    if materials:
        labels.add("untrusted")
    if set(materials) - set(origin.public):
        labels.add("private")
    before = [address for report in _list_inputs(state) for address in report.addresses]
    addresses = dict.fromkeys([*origin.addresses, *before])
    return Taint(
        allowed_text=known,
        user_text=user_text,
        taint_labels=frozenset(labels),
        found_addresses=addresses,
    )


def exclude_worker(state: WorkerState, worker: str) -> WorkerState:
    """Return the state without what a worker has read itself: it may be sent its own words."""
    others = {n: each for n, each in state.get("attempts", {}).items() if each.worker != worker}
    inputs = {n: each for n, each in state.get("inputs", {}).items() if each.worker != worker}
    return {**state, "attempts": others, "inputs": inputs}


def describe_private_source(state: WorkerState) -> str:
    """Return why an attempt at a task starts with private data, for the user."""
    public = state.get("origin", Origin()).public
    if files := sorted(set(state.get("materials", {})) - set(public)):
        return f"{', '.join(files[:3])} {'is' if len(files) == 1 else 'are'} private"
    if tasks := [each.task for each in _list_inputs(state) if "private" in each.taint_labels]:
        return f"the result of {', '.join(tasks[:3])} is private"
    if any("private" in each.taint_labels for each in state.get("attempts", {}).values()):
        return "an earlier attempt has read private data"
    return "its words were written after private data was read in this thread"


def build_subteam_origin(state: WorkerState) -> Origin:
    """Return a task's origin for the team that does it, with the labels of the task's inputs.

    The task's materials add no label here: in the team, too, each task receives its own.
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
    """Return the labels of a task's inputs and of its earlier attempts, whose errors are shown."""
    attempts = state.get("attempts", {}).values()
    return merge_labels(
        collect_report_labels(_list_inputs(state)), *(attempt.taint_labels for attempt in attempts)
    )


def _join_trusted_text(state: WorkerState) -> str:
    """Return the trusted words besides the user's: the task's own too, if its plan is untainted."""
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
