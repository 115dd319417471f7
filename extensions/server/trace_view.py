"""The traces that a server keeps of its runs, and what `supervise … --url` reads of them.

A server has no route for either. A client asks for the thread's state in the namespace of the
trace, and this application's graph answers with them in place of a state. So the server's own
rules decide who may read them: those of the thread.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.types import Interrupt, StateSnapshot
from pydantic import BaseModel

from extensions.server.run_documents import load_documents
from extensions.server.trace_writer import (
    NAMESPACE,
    TraceWriter,
    load_last_segment,
    load_trace_lines,
)
from graph.around_run import AroundRun, BegunRun, ReadState, Saver
from graph.extensions import collect
from graph.runs.event_log import FORM_ERRORS
from graph.runs.trace import build_trace
from graph.stores.trace_lines import format_trace_line, make_event
from graph.topology.answers import list_open_questions
from graph.topology.run_start import get_run_id, read_began_at
from nodes.errors import SupervisorError
from nodes.limits.deadline import get_elapsed_s
from nodes.limits.langgraph_keys import RESUMING_KEY, TASK_ID_KEY
from nodes.limits.run_scope import SCOPE_KEY, get_run_scope
from nodes.planning.request import ANSWER_KEY
from nodes.text.finite_json import parse_finite_json
from state import FINAL_STATUSES

SUMMARY_NAMESPACE: Final = "supervise-summary"
WHY_NAMESPACE: Final = "supervise-why"
DOCUMENTS_NAMESPACE: Final = "supervise-documents"
VIEW_VERSION: Final = 1
MAX_PAGE_CHARS: Final = 2_000_000
MAX_REQUEST_CHARS: Final = 2_000
MAX_REQUESTS: Final = 50


@dataclass(frozen=True)
class KeptTraces(AroundRun):
    """Keeps the trace of a server's run beside the thread's checkpoints, and shows it."""

    is_writing: bool
    documents: Path
    """The folder that documents are written to."""

    @asynccontextmanager
    async def follow(self, run: BegunRun) -> AsyncIterator[None]:
        """Keep the run's events, and how it began and ended."""
        writer = self._build_writer(run)
        if writer is None:
            yield
            return
        scope = replace(get_run_scope(run.config), keep_event=writer.add)
        run.config["configurable"][SCOPE_KEY] = scope
        if run.is_resumed and not await load_last_segment(writer.saver, writer.thread):
            # The state was put there, such as by a page that runs a plan again.
            values = (await run.read_state()).values
            is_fork = not values.get("planned_s")
            for event in _list_state_events(values, run.team, is_fork=is_fork):
                writer.add(event)
        try:
            yield
            if run.asked and (questions := list_open_questions(await run.read_state())):
                writer.add({"asked": questions})
        except SupervisorError as error:
            named = {"code": error.code, "message": str(error), "next": error.next}
            writer.add(make_event("error", round(get_elapsed_s(run.config), 6), **named))
            raise
        except BaseException as error:  # a cancel too: the trace must not show a running run
            writer.add({"stopped": type(error).__name__})
            raise
        finally:
            await writer.close()

    def _build_writer(self, run: BegunRun) -> TraceWriter | None:
        """Return what writes a run's trace; None for a run that no server has started."""
        configurable = run.config["configurable"]
        is_inner = RESUMING_KEY in configurable or TASK_ID_KEY in configurable
        if not self.is_writing or run.saver is None or is_inner or not get_run_id(run.config):
            return None
        return TraceWriter(
            run.saver,
            thread=str(configurable["thread_id"]),
            run=get_run_id(run.config),
            started_t=round(get_elapsed_s(run.config), 6),
            is_resumed=run.is_resumed,
            team=run.team,
            began=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )

    async def read_view(
        self, config: RunnableConfig, saver: Saver, read_state: ReadState, team: str
    ) -> StateSnapshot | None:
        """Return a view of a thread in the form of a state, if a config asks for one.

        Its values are `view` (a version), `team`, and `run`; in the namespace of the trace also
        `lines`, the trace from a line on, whose number is the checkpoint's id as an integer, and
        `next`, the number of the line with which the next page begins; None after the last.
        In that of the causes also `why`, as an extension explains the run; in that of the documents
        also `documents`, the files that the run has written.
        """
        configurable = config.get("configurable", {})
        namespace = configurable.get("checkpoint_ns")
        if namespace not in (NAMESPACE, SUMMARY_NAMESPACE, WHY_NAMESPACE, DOCUMENTS_NAMESPACE):
            return None
        state = await read_state()
        values: dict[str, Any] = {"view": VIEW_VERSION, "team": team, "run": _describe_run(state)}
        if namespace != SUMMARY_NAMESPACE:
            lines = await load_trace_lines(saver, str(configurable["thread_id"]))
            if namespace == WHY_NAMESPACE:
                values["why"] = await asyncio.to_thread(_explain, lines, state.values)
            elif namespace == DOCUMENTS_NAMESPACE:
                found = await asyncio.to_thread(load_documents, lines, self.documents)
                values["documents"] = found
            else:
                first = _read_number(configurable.get("checkpoint_id"))
                values |= _cut_page(lines or list(_list_state_lines(state, team)), first)
        return StateSnapshot(values, (), config, None, None, None, (), ())


def _explain(lines: Sequence[str], values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return why a run is not whole, as the extension that knows it says."""
    try:
        trace = build_trace(map(parse_finite_json, lines))
    except FORM_ERRORS:  # another version wrote it
        return []
    if values.get("status") in FINAL_STATUSES:
        trace["run"]["status"] = values["status"]
    return collect(lambda each: each.explain_run(trace))


def _list_state_events(
    values: Mapping[str, Any], team: str, *, is_fork: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield the events of a run of which only the state is known: request, plans, reports.

    Args:
        is_fork: of two plans, the first is that of the run that it is from, as are the reports.
    """
    materials = list(values.get("materials", {}))
    yield make_event("request", 0.0, request=values["request"], team=team, materials=materials)
    for number, plan in enumerate(values.get("plans", ())):
        named = {"kind": "plan_approved", "edited": True, "is_fork": True}
        made = make_event("plan_created", float(values.get("planned_s") or 0.0))
        yield {**made, **(named if is_fork and number else {}), "plan": _to_json(plan)}
    for report in map(_to_json, values.get("results", {}).values()):
        named = {"task": report["task"], "worker": report["worker"]}
        if not is_fork:
            yield {**make_event("task_started", report["started_s"]), **named}
        yield {**make_event("report", report["ended_s"], report=report), **named}


def _read_number(name: object) -> int:
    try:
        return UUID(str(name)).int
    except ValueError:
        return 0


def _cut_page(lines: Sequence[str], first: int) -> dict[str, Any]:
    last, size = first, 0
    while last < len(lines) and (last == first or size + len(lines[last]) <= MAX_PAGE_CHARS):
        size += len(lines[last])
        last += 1
    return {"lines": list(lines[first:last]), "next": last if last < len(lines) else None}


def _describe_run(snapshot: StateSnapshot) -> dict[str, Any]:
    """Return what the last checkpoint says of the run."""
    values, began_at = snapshot.values, read_began_at(snapshot)
    return {
        "requests": list(islice(_list_requests(values), MAX_REQUESTS)),
        "request": str(values.get("request", ""))[:MAX_REQUEST_CHARS],
        "status": values.get("status", ""),
        "is_in_progress": bool(snapshot.tasks),
        "started": began_at and datetime.fromtimestamp(began_at, UTC).isoformat(timespec="seconds"),
        "wall_s": _to_json(values.get("timing") or {}).get("wall_s"),
        "questions": list_open_questions(_restore_interrupts(snapshot)),
    }


def _list_requests(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the requests of a thread in their order, as far as they are known."""
    for message in map(_to_json, values.get("messages") or ()):
        if message["type"] == "human" and ANSWER_KEY not in message["additional_kwargs"]:
            yield str(message["content"]).strip()[:MAX_REQUEST_CHARS]


def _restore_interrupts(snapshot: StateSnapshot) -> StateSnapshot:
    """Return a snapshot with interrupts of LangGraph's type, which some servers read as JSON."""
    tasks = []
    for task in snapshot.tasks:
        inner = task.state
        state = _restore_interrupts(inner) if isinstance(inner, StateSnapshot) else inner
        asked = tuple(map(_restore_interrupt, task.interrupts))
        tasks.append(task._replace(interrupts=asked, state=state))
    asked = tuple(map(_restore_interrupt, snapshot.interrupts))
    return snapshot._replace(tasks=tuple(tasks), interrupts=asked)


def _restore_interrupt(found: Any) -> Interrupt:  # an `Interrupt`, or its JSON
    if isinstance(found, Interrupt):
        return found
    return Interrupt(value=found["value"], id=found["id"])


def _list_state_lines(snapshot: StateSnapshot, team: str) -> Iterator[str]:
    """Yield the lines that the state alone tells, for a thread of which no trace was kept."""
    values: Mapping[str, Any] = snapshot.values
    if "request" not in values:
        return
    thread = snapshot.config["configurable"]["thread_id"]
    yield format_trace_line({"run": {"thread": thread, "team": team}})
    events = sorted(_list_state_events(values, team), key=_get_time)
    yield from map(format_trace_line, events)
    if values.get("answer") and values.get("timing"):
        yield format_trace_line(_build_answer_event(values, at_least_s=_get_time(events[-1])))


def _build_answer_event(values: Mapping[str, Any], *, at_least_s: float) -> dict[str, Any]:
    shown = {name: _to_json(values.get(name)) for name in ("answer", "usage", "timing")}
    at_s = max(at_least_s, float(shown["timing"]["wall_s"]))  # which begins with the request
    return make_event("answer", at_s, **shown, status=values["status"])


def _get_time(event: Mapping[str, Any]) -> float:
    return float(event["t"])


def _to_json(value: Any) -> Any:  # a type of the state, or its JSON, as a server may read it
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value
