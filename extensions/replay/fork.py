"""Runs a kept run on from one of its tasks, or with something changed, as a thread of its own."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from difflib import unified_diff
from pathlib import Path
from typing import Any, Final

from langgraph.errors import InvalidUpdateError

from extensions.replay.changes import ChangeInvalid, Changes
from extensions.replay.record_file import Entry
from extensions.replay.replayer import Replayed
from extensions.replay.run_recorder import RunRecorder
from graph.runs.event_log import EventListener
from graph.runs.outcome import Outcome
from graph.runs.run_record import (
    OWN_KEY,
    RunUntrusted,
    load_run_record,
    require_known_team,
    save_run_record,
)
from graph.runs.session import RunSession, open_session, run_graph
from graph.runs.trace import ThreadUnknown, get_log_path
from graph.settings import Settings, read_settings
from graph.stores.thread_locks import check_thread_id, make_thread_id
from graph.teams.team_loader import load_team
from graph.topology.input_validation import read_context
from nodes.errors import UsageError
from nodes.limits.deadline import now_s
from nodes.limits.run_scope import set_deadline
from nodes.planning.replanning import compare_plans
from nodes.planning.team_record import build_team_record
from nodes.planning.validation import list_plan_problems
from nodes.schemas.single_agent import SINGLE_AGENT
from nodes.schemas.team import Team
from nodes.text.plain_text import sanitize_line
from state import Context, Report, reset_for_new_request

BEFORE_SUPERVISOR: Final = "approval"
"""The node whose only edge leads to the supervisor, which sends what has no report."""
FOLLOWED: Final = ("status", "confidence", "worker", "output", "gaps")
"""Of a report, what a comparison shows."""
SPENT: Final = {"model_calls", "input_tokens", "output_tokens", "cost_usd"}


class ThreadTaken(UsageError):
    """A new run cannot have the id of a kept one."""


@dataclass(frozen=True)
class Comparison:
    """A kept run, and the same with something changed."""

    base: Replayed
    changes: Changes
    outcome: Outcome

    def to_json(self) -> dict[str, Any]:
        """Return what changed in plan, reports, answer and cost, as JSON."""
        before, after = self.base.outcome, self.outcome
        assert before.plan is not None, "only a run with a plan is changed"
        named = dict.fromkeys([*before.results, *after.results])
        reports = {name: self._compare_reports(name) for name in named}
        return {
            "base": before.thread,
            "thread": after.thread,
            "status": {"before": before.status, "after": after.status},
            "plan": compare_plans(before.plan, after.plan or before.plan),
            "redone": list(self.changes.redone),
            "kept": [name for name in self.changes.results if name in after.results],
            "reports": {name: found for name, found in reports.items() if found},
            "answer": {
                "before": before.answer and before.answer.text,
                "after": after.answer and after.answer.text,
            },
            # A fork does not count what the run has spent that it comes from.
            "usage": {
                side: each.usage.model_dump(mode="json", include=SPENT)
                for side, each in (("before", before), ("after", after))
            },
            "error": after.error and str(after.error),
        }

    def list_answer_lines(self) -> list[str]:
        """Return the lines that the answers do not have in common, with `-` and `+`."""
        before, after = (
            (each.answer.text if each.answer else "").splitlines()
            for each in (self.base.outcome, self.outcome)
        )
        lines = unified_diff(before, after, lineterm="", n=0)
        return [line for line in lines if line[:3] not in ("---", "+++") and line[:2] != "@@"]

    def _compare_reports(self, name: str) -> dict[str, Any]:
        pair = [each.results.get(name) for each in (self.base.outcome, self.outcome)]
        old, new = [
            each.model_dump(mode="json", include=set(FOLLOWED)) if each else {} for each in pair
        ]
        differing = [key for key in FOLLOWED if old.get(key) != new.get(key)]
        return {key: {"before": old.get(key), "after": new.get(key)} for key in differing}


async def afork(
    base: Replayed,
    changes: Changes,
    *,
    team: str | Path | None = None,
    thread: str | None = None,
    context: Context | None = None,
    settings: Settings | None = None,
    on_event: EventListener | None = None,
    **made: Any,
) -> Outcome:
    """Do the changed tasks and those that build on them; all other reports are the record's.

    Args:
        team: of a record that is not this user's.
        thread: of the new run.
        made: `models` and `tools`, as `arun` takes them.

    Raises:
        ChangeInvalid: the changed plan does not fit the team.
        ThreadTaken, ThreadInvalid: the new run cannot have this id.
        RunUntrusted: the record names a team that is not this user's, and `team` is missing.
    """
    settings, new = read_settings(settings), check_thread_id(thread or make_thread_id())
    if get_log_path(new, settings).exists():
        raise ThreadTaken(f"there is a run {new} already", kept="it", next="name another --thread")
    source = team or await _find_source(base, settings)
    context = _build_context(base, changes, context)
    named = Team.model_validate(source) if isinstance(source, dict) else source
    changed = load_team(named, settings, workers=changes.workers, tools=made.get("tools"))
    _require_fit(changes, base, changed.apply_context(context))
    resolved = changed.model_dump(mode="json") if changes.workers else source
    resolved = resolved if isinstance(resolved, dict) else str(resolved)
    given = {"request": base.values.get("request", ""), "materials": changes.materials}
    begun = {"source": resolved, "input": given, "context": asdict(context)}
    made = {"models": None, "tools": None, **made}
    async with open_session(new, resolved, settings, on_event, context, **made) as session:
        ends = set_deadline(now_s(), session.team.add_caps(context).deadline_s)
        session.update_scope(deadline=ends)
        await _enter_state(session, base, changes, context)
        await save_run_record(new, await session.note_begin(begun), session.database, settings)
        await session.begin_record(None, context, is_resumed=True)
        for event in _list_given_events(base, changes):
            session.event_log.record_event(event)
            if isinstance(session.recorder, RunRecorder):
                session.recorder.note_given(event)
        return await run_graph(session, None, context, is_planned=True)


def _build_context(base: Replayed, changes: Changes, context: Context | None) -> Context:
    """Return the context of the run, for its plan as it is, with the changed models."""
    is_single = any(task.worker == SINGLE_AGENT for task in changes.plan.tasks)
    strategy = {"strategy": "single" if is_single else "plan"}
    kept = context or read_context({**base.record.segments[-1].begun["context"], **strategy})
    chosen: dict[str, Any] = {f"model_{tier}": name for tier, name in changes.models.items()}
    return replace(kept, **chosen)


def _require_fit(changes: Changes, base: Replayed, team: Team) -> None:
    before = base.outcome.plan
    known, given = max(team.max_tasks, len(before.tasks) if before else 0), changes.materials
    if wrong := list_plan_problems(changes.plan, team, max_tasks=known, materials=given):
        raise ChangeInvalid(
            "the changed plan cannot be run",
            cause=sanitize_line("; ".join(wrong), 400),
            kept="the run",
            next="correct the change",
        )


async def _find_source(base: Replayed, settings: Settings) -> Any:
    """Return where the team of a record is; one that another user signed is not used."""
    try:
        record = await load_run_record(check_thread_id(base.outcome.thread), settings)
    except ThreadUnknown:
        raise RunUntrusted(
            f"the team of {base.record.path} is not known here",
            cause=f"no thread {base.outcome.thread} is kept here",
            next="name the team: --team TEAM",
        ) from None
    if not record.pop(OWN_KEY):
        require_known_team(base.outcome.thread, record["source"], settings)
    return record["source"]


async def _enter_state(
    session: RunSession, base: Replayed, changes: Changes, context: Context
) -> None:
    """Put the state of the run with its changes into the new thread."""
    messages = base.values.get("messages", [])
    # Who writes the new answer must not read the old one.
    asked = max((n for n, each in enumerate(messages) if each.type == "human"), default=-1)
    values: dict[str, Any] = {
        **{name: value for name, value in base.values.items() if name != "estimate"},
        **reset_for_new_request(),
        "asked_s": 0.0,  # what it did itself is its time
        "planned_s": 0.0,
        "results": _stop_clocks(changes.results),
        "steps": {},
        "ledger": {},
        "plan": changes.plan,
        "plans": (*base.values.get("plans", ()), changes.plan),
        "materials": changes.materials,
        "todo": (),
        "answered_objections": tuple(changes.results),
        "messages": messages[: asked + 1],
        "team_record": build_team_record(session.team.apply_context(context)),
    }
    try:
        await session.graph.aupdate_state(session.config, values, as_node=BEFORE_SUPERVISOR)
    except InvalidUpdateError as error:
        cause = str(error).partition("\n")[0]
        raise ChangeInvalid("the changed plan cannot be run", cause=cause[:400], next="") from None


def _stop_clocks(reports: Mapping[str, Report]) -> dict[str, Report]:
    """Return reports of another run, which take no time of this one."""
    at_begin = {"started_s": 0.0, "ended_s": 0.0}
    return {name: report.model_copy(update=at_begin) for name, report in reports.items()}


def _list_given_events(base: Replayed, changes: Changes) -> list[Entry]:
    """Return the events of what the run has from the other one: request, plan, reports."""
    before = base.outcome.plan or changes.plan
    was, now = (
        {"plan": plan.model_dump(mode="json"), "version": plan.version, "notes": []}
        for plan in (before, changes.plan)
    )
    begun = {"t": 0.0, "task": "", "worker": ""}
    asked = [{**event, "t": 0.0} for event in base.events if event.get("kind") == "request"]
    planned = [{**begun, "kind": "plan_created", "forked_from": base.outcome.thread, **was}]
    if before.tasks != changes.plan.tasks:
        planned += [{**begun, "kind": "plan_approved", "edited": True, "is_fork": True, **now}]
    reports = [
        {**begun, "kind": "report", "task": name, "worker": report.worker, "report": dumped}
        for name, report in _stop_clocks(changes.results).items()
        for dumped in [report.model_dump(mode="json")]
    ]
    return [*asked[-1:], *planned, *reports]
