"""Runs a team on a saved thread: opened, locked, logged, and resumable."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.types import Command

from graph.runs.event_log import EventListener
from graph.runs.materials import add_thread_materials, build_input
from graph.runs.outcome import Outcome
from graph.runs.run_record import (
    OWN_KEY,
    load_run_record,
    lower_caps,
    require_known_team,
    save_run_record,
)
from graph.runs.session import RunSession, build_outcome, open_session, run_graph, utc_now
from graph.settings import Settings, read_settings
from graph.stores.thread_locks import check_thread_id, make_thread_id
from graph.stores.trace_lines import make_event
from graph.teams.default_team import DEFAULT_TEAM
from graph.teams.team_loader import find_team
from graph.topology.answers import Question, assign_answer, list_open_questions
from graph.topology.blocking_portal import get_portal
from graph.topology.input_validation import read_context
from graph.topology.run_start import (
    build_reopen_command,
    has_unfinished_work,
    is_in_progress,
    list_team_changes,
    merge_context,
)
from graph.topology.stop_watch import has_stop_requests
from nodes.errors import UsageError, require_type
from nodes.limits.deadline import measure_elapsed_s, now_s
from nodes.limits.run_scope import CertificateListener, set_deadline
from nodes.schemas.team import Team
from nodes.tools.framework.extras import require_packages
from state import COMPLETE_STATUSES, Context, Plan, SupervisorState, Tier

AnswerListener = Callable[[str], None]
AnswerQuestions = Callable[[Sequence[Question]], str]
"""Returns the answer to the questions that are open when the thread is locked, or refuses."""


class ThreadUnfinished(UsageError):
    """A new request cannot begin on a thread whose run was cut short."""


def run(request: str, **options: Any) -> Outcome:
    """Run a request to its outcome from synchronous code; the options are those of `arun`."""
    return get_portal().call(arun(request, **options))


def resume(thread: str, **options: Any) -> Outcome:
    """Resume a thread from synchronous code; the options are those of `aresume`."""
    return get_portal().call(aresume(thread, **options))


async def arun(
    request: str,
    *,
    team: str | Path | Team = DEFAULT_TEAM,
    files: str | Path | Sequence[str | Path] = (),
    materials: Mapping[str, str] | None = None,
    thread: str | None = None,
    context: Context | Mapping[str, Any] | None = None,
    settings: Settings | None = None,
    on_event: EventListener | None = None,
    on_answer_text: AnswerListener | None = None,
    on_certificate: CertificateListener | None = None,
    plan: Plan | None = None,
    models: Mapping[Tier, BaseChatModel] | None = None,
    tools: Mapping[str, BaseTool] | None = None,
) -> Outcome:
    """Run a request to its outcome. An error after the run began is in `Outcome.error`.

    Args:
        files: documents and folders of documents that become materials of the request.
        materials: further materials, name to text.
        thread: continues that thread with its history and materials; a new material replaces an
            earlier one of the same name. Without it a new thread is created.
        on_event: called with each event of the trace as it happens.
        on_answer_text: called with the answer's text so far, some times a second, while a model
            writes it; the model is then asked for a stream.
        on_certificate: called with the certificate of the plan before any task begins.
        plan: is run instead of one that the planner makes; it is checked like any other plan.
        models: your own, by tier, as `tools` by name; a resume needs both again.

    Raises:
        UsageError: the request, the team, a file or a setting cannot be used.
        StoreError: the run database cannot be used.
        ThreadBusy: the thread is running elsewhere.
    """
    settings, context, begun = read_settings(settings), read_context(context), now_s()
    source = _resolve_team_source(team, settings)
    await asyncio.to_thread(require_packages, _get_team_name(source))  # reads files, too
    given = await build_input(request, files, materials, context, on_event)
    thread, made = check_thread_id(thread or make_thread_id()), {"models": models, "tools": tools}
    async with open_session(thread, source, settings, on_event, context, **made) as session:
        ends = set_deadline(begun, session.team.add_caps(context).deadline_s)
        session.update_scope(deadline=ends, given_plan=require_type("plan", plan, Plan))
        session.update_scope(on_answer_text=on_answer_text, on_certificate=on_certificate)
        given = await _accept_request(session, given)
        noted = {"source": source, "input": given, "context": asdict(context)}
        signed = await session.note_begin(noted)
        await save_run_record(thread, signed, session.database, settings)
        await session.begin_record(given, context)
        return await run_graph(session, given, context)


async def _accept_request(session: RunSession, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return an input with the materials that its thread keeps.

    Raises:
        ThreadUnfinished: the thread holds a run that was cut short.
        RequestInvalid: the materials are too large together.
    """
    snapshot = await session.graph.aget_state(session.config)
    if has_unfinished_work(snapshot):
        raise ThreadUnfinished(
            f"thread {session.thread!r} holds a run that has not ended",
            kept="what it has finished",
            next=f"supervise resume {session.thread}, or choose another --thread",
        )
    joined, names = add_thread_materials(snapshot.values, given)
    session.update_scope(kept_materials=tuple(names))
    return joined


async def aresume(
    thread: str,
    *,
    answer: str | AnswerQuestions | None = None,
    team: str | Path | Team | None = None,
    context: Context | Mapping[str, Any] | None = None,
    settings: Settings | None = None,
    on_event: EventListener | None = None,
    on_answer_text: AnswerListener | None = None,
    models: Mapping[Tier, BaseChatModel] | None = None,
    tools: Mapping[str, BaseTool] | None = None,
) -> Outcome:
    """Resume a thread after a kill, an error, a question or a partial result.

    Completed tasks are not repeated. For a thread that is done, its outcome is returned again.

    Args:
        answer: to the thread's open question; with several open, JSON keyed by task. Or what
            returns it for the questions that are open.
        team: of a run whose record is not this user's, such as one in a copied folder.
        context: settings of the run to change; deadline and budget restart.
        models: the objects that the run was begun with.
        tools: the same.

    Raises:
        SettingsInvalid: a setting of the context cannot be used.
        ThreadUnknown: no run has this thread id here.
        RunUntrusted: the record, which names the team, is not this user's, and `team` is missing.
        TeamChanged: the team's files have changed since the run began.
        NoOpenQuestion, AnswerUnclear: `answer` cannot be assigned to one open question.
        StoreError: the run database cannot be used.
        ThreadBusy: the thread is running elsewhere.
    """
    settings, given = read_settings(settings), read_context(context)
    answer = answer if callable(answer) else require_type("answer", answer, str)
    accepted = await load_run_record(check_thread_id(thread), settings)
    is_own, made = accepted.pop(OWN_KEY), {"models": models, "tools": tools}
    source = accepted["source"] if team is None else _resolve_team_source(team, settings)
    if team is None and not is_own:
        require_known_team(thread, source, settings)
    saved = read_context(accepted.get("context"))
    context = merge_context(saved if is_own else Context(), given)
    async with open_session(thread, source, settings, on_event, context, **made) as session:
        if session.is_new_here:  # another machine began it
            await session.note_begin(accepted)
        if not is_own:
            context = merge_context(lower_caps(saved, session.team), given)
            session.update_scope(ignores_saved_context=True)
        session.update_scope(on_answer_text=on_answer_text)
        return await _continue_run(session, accepted["input"], context, answer, settings)


async def _continue_run(
    session: RunSession,
    accepted: Mapping[str, Any],
    context: Context,
    answer: str | AnswerQuestions | None,
    settings: Settings,
) -> Outcome:
    """Continue a thread's run where it stopped; one that waits without an answer waits on.

    Args:
        accepted: the thread's last input.
    """
    team, request = session.team.apply_context(context), accepted["request"]
    saver = session.database.saver
    changes = await list_team_changes(team, saver, session.config, request=request)
    snapshot = await session.graph.aget_state(session.config, subgraphs=True)
    values, questions = cast(SupervisorState, snapshot.values), list_open_questions(snapshot)
    thread, store = session.thread, session.database.store
    answer = answer(questions) if callable(answer) else answer
    reply = None if answer is None else assign_answer(answer, questions)
    command: Command[Any] | None = None if reply is None else Command(resume=reply)
    if questions and command is None and not await has_stop_requests(store, thread):
        return build_outcome(session, snapshot, None)
    is_running = is_in_progress(snapshot)
    is_begun = is_running or values.get("request") == request
    if is_begun and not is_running and values.get("status") in COMPLETE_STATUSES:
        return Outcome.from_state(thread, values)
    session.event_log.write_entry({"resumed": utc_now()})
    if changes:
        at_s = measure_elapsed_s(session.config)
        session.event_log.record_event(make_event("team_changed", at_s, changes=changes))
    session.update_scope(read_logged_usage=session.read_logged_usage)
    # A run that was killed before its first checkpoint starts again from the accepted input.
    again = build_reopen_command(values) if is_begun and not is_running else None
    given = command if is_running else again or accepted
    await session.begin_record(given, context, is_resumed=is_running)
    return await run_graph(session, given, context, is_planned=is_running)


def _resolve_team_source(team: str | Path | Team, settings: Settings) -> str | dict[str, Any]:
    """Return the reference by which a resume finds the team again."""
    if isinstance(team, Team):
        return team.model_dump(mode="json")
    return str(find_team(team, settings).resolve())


def _get_team_name(source: str | Mapping[str, Any]) -> str:
    return Path(source).name if isinstance(source, str) else str(source["name"])
