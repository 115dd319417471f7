"""Stops tasks of a run that is at work elsewhere: in another process, or on a server."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from graph.runs.run_store import build_run_store
from graph.runs.trace import load_trace
from graph.settings import Settings, read_settings
from graph.stores.run_database import build_stop_namespace
from graph.stores.thread_locks import check_thread_id
from nodes.errors import SupervisorError, UsageError
from nodes.limits.stop_requests import ALL_TASKS, STOPPED
from nodes.text.plain_text import sanitize_line

WAIT_S: Final = 15.0
"""For a task to end once it was asked to; a run looks once a second."""
POLL_INTERVAL_S: Final = 0.5
ASKING: Final = "needs_input"
"""The status of a run that waits for a human."""
AT_RESUME: Final = "stops when the run is resumed"
"""In place of a task's status, where its run waits for a human."""
OPEN: Final = ("waiting", "working")
"""The statuses of tasks that have not ended."""

LoadTrace = Callable[[], Awaitable[Mapping[str, Any]]]
SaveRequest = Callable[[tuple[str, ...], str], Awaitable[None]]
"""Writes a request into a store: namespace and key."""


class NothingToStop(UsageError):
    """The run, or the task, is not at work."""


class TaskUnknown(UsageError):
    """The plan has no such task."""


class StopUnconfirmed(SupervisorError):
    """A run was asked to stop tasks, and did not do it in time."""

    exit_code, retryable = 3, True


async def astop(thread: str, task: str = "", *, settings: Settings | None = None) -> dict[str, str]:
    """Stop a task of a run that another process of this machine works on, or all its tasks.

    Return how the tasks ended, by their paths. The run continues: tasks that do not need them are
    done, and the answer names the gaps. The tasks of a run that waits for a human end when it is
    resumed; an answer to their question is not needed.

    Args:
        task: `outer/inner` for one of an inner team; empty for all.

    Raises:
        ThreadInvalid: its form is unsafe in file names.
        ThreadUnknown, TaskUnknown: there is none of this name.
        NothingToStop: the run or the task has ended.
        StopUnconfirmed: it has not ended within 15 seconds.
        StoreError: the run database cannot be used.
    """
    known, thread = read_settings(settings), check_thread_id(thread)

    async def load() -> Mapping[str, Any]:
        return await asyncio.to_thread(load_trace, thread, known)

    async def save(namespace: tuple[str, ...], key: str) -> None:
        async with build_run_store(known) as store:
            await store.aput(namespace, key, {"thread": thread}, index=False)

    return await stop_tasks(thread, task, load, save, statuses=("running", ASKING))


async def stop_tasks(
    thread: str, task: str, load: LoadTrace, save: SaveRequest, *, statuses: Collection[str]
) -> dict[str, str]:
    """Ask for tasks to end, and wait until they have.

    Args:
        statuses: of a run that may be stopped.

    Raises:
        TaskUnknown, NothingToStop, StopUnconfirmed: as `astop`.
    """
    trace = await load()
    chosen = _choose_tasks(thread, task, trace, statuses)
    await save(build_stop_namespace(thread), task or ALL_TASKS)
    if trace["run"]["status"] == ASKING:
        return dict.fromkeys(chosen, AT_RESUME)
    clock = asyncio.get_running_loop().time
    gives_up_s = clock() + WAIT_S
    while clock() < gives_up_s:
        await asyncio.sleep(POLL_INTERVAL_S)  # another process works on it
        trace = await load()
        ended = {path: _describe_end(found) for path, found in _walk_tasks(trace["tasks"])}
        left = [path for path in chosen if ended.get(path, "") in OPEN]
        if not left or trace["run"]["status"] != "running":
            return {path: ended[path] for path in chosen if path in ended}
    raise StopUnconfirmed(
        f"{_join(left)} did not end within {WAIT_S:g} s",
        cause="the run is not at work, or is slow",
        kept="the request; it counts when the run is resumed",
        next=f"supervise show {thread}",
    )


def _choose_tasks(
    thread: str, task: str, trace: Mapping[str, Any], allowed: Collection[str]
) -> list[str]:
    """Return the paths of the tasks to stop that have not ended.

    Raises:
        TaskUnknown, NothingToStop: there is none.
    """
    status = trace["run"]["status"]
    if status not in allowed:
        raise NothingToStop(
            f"the run of thread {thread!r} is not at work", cause=f"its status is {status}"
        )
    statuses = {path: found["status"] for path, found in _walk_tasks(trace["tasks"])}
    open_tasks = [path for path, status in statuses.items() if status in OPEN]
    if task and task not in statuses:
        raise TaskUnknown(
            f"the plan has no task {sanitize_line(task, 80)!r}",
            next=f"its tasks are {_join(statuses)}" if statuses else "wait until there is a plan",
        )
    chosen = [path for path in open_tasks if not task or path == task]
    if not chosen:
        what = f"the task {task!r} has ended" if task else "no task is open"
        left = f"open tasks: {_join(open_tasks)}" if open_tasks else ""
        raise NothingToStop(what, kept="its report" if task else "the run", next=left)
    return chosen


def _walk_tasks(
    tasks: Iterable[Mapping[str, Any]], within: str = ""
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for task in tasks:
        path = f"{within}{task['id']}"
        yield path, task
        yield from _walk_tasks(task.get("team", {}).get("tasks", ()), f"{path}/")


def _describe_end(task: Mapping[str, Any]) -> str:
    """Return the status of a task, with `stopped` in place of that of one that was stopped."""
    error = (task.get("report") or {}).get("error") or task.get("reason")
    return "stopped" if error == STOPPED else str(task["status"])


def _join(names: Iterable[str]) -> str:
    return sanitize_line(", ".join(names), 300)
