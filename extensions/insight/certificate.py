"""The certificate of a plan: worst case, flows, effects, parallel writes, parts without a task."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from extensions.insight.flows import Flow, Flows, ParallelWrites
from extensions.insight.worst_case import WorstCase, bound_run
from nodes.errors import SettingsInvalid
from nodes.models.settings import EMBEDDED
from nodes.planning.certificates import PlannedRun
from nodes.schemas.team import Team
from nodes.security.tool_access import list_effect_tools
from nodes.text.counts import join_names
from nodes.text.plain_text import sanitize_line
from state import Frozen, NonNegative, Plan

VERSION: Final = 1
MAX_SHOWN: Final = 3
"""Names in a line of the summary, and lines of a kind."""
MAX_LISTED: Final = 5_000
"""Items of a list in a certificate that is read."""
_SENT: Final = {
    "query": "words of your request",
    "address": "page addresses of your request or of a search",
}
"""What tools send, by what a guard lets through."""
_Count = Annotated[int, Field(ge=0)]
_Names = Annotated[tuple[str, ...], Field(max_length=MAX_LISTED)]


class Caps(Frozen):
    """Those of the run, by the names of `Context`; where it sets none, the team's hold."""

    deadline_s: NonNegative | None = None
    max_cost_usd: NonNegative | None = None
    max_tokens: _Count | None = None
    max_steps: _Count | None = None
    max_tasks: Annotated[int, Field(ge=1, le=1000)] | None = None
    max_attempts: Annotated[int, Field(ge=1, le=10)] | None = None


class Effect(Frozen):
    """A task, and those of its worker's tools that may do more than read."""

    task: str
    worker: str
    tools: _Names


class Certificate(Frozen):
    """All that a run of one plan can at most do."""

    version: Literal[1] = VERSION
    plan_hash: Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]
    team: str
    caps: Caps
    worst_case: WorstCase = WorstCase()
    held_case: WorstCase
    """The same of a run that is held to the certificate."""
    answer_sources: _Names = ()
    """What the synthesizer reads of: the answer may hold something of each."""
    flows: Annotated[tuple[Flow, ...], Field(max_length=MAX_LISTED)] = ()
    effects: Annotated[tuple[Effect, ...], Field(max_length=MAX_LISTED)] = ()
    parallel_writes: Annotated[tuple[ParallelWrites, ...], Field(max_length=MAX_LISTED)] = ()
    uncovered: _Names = ()
    """Parts of the request that no task covers, as planning has noted them."""
    summary: _Names = ()


class PlanCertifier:
    """Fills the port of the main house."""

    def certify(self, run: PlannedRun) -> dict[str, Any]:
        """Return the certificate of a planned run, as JSON; no model is asked, no tool loaded."""
        return _make(run).model_dump(mode="json")

    def find_excess(self, given: Mapping[str, Any], run: PlannedRun) -> str:
        """Return what of a planned run is outside of a certificate; empty if nothing is."""
        return next(_list_excesses(_read(given), _make(run)), "")

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what of a certificate a run is held to: each checkpoint has it.

        Raises:
            SettingsInvalid: it is damaged, or of another version.
        """
        shown = {"summary", "answer_sources", "uncovered", "parallel_writes", "worst_case"}
        return _read(given).model_dump(mode="json", exclude=shown)


def hash_plan(plan: Plan) -> str:
    """Return the hash of what a plan has done, whatever its version and who made it."""
    fields = plan.model_dump(mode="json", exclude={"version", "untaken", "rule_reason"})
    return f"sha256:{sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()}"


def _make(run: PlannedRun) -> Certificate:
    team, flows = run.team, Flows(run)
    caps = {name: getattr(run.context, name) for name in Caps.model_fields}
    made = Certificate(
        plan_hash=hash_plan(run.plan),
        team=team.name,
        caps=Caps(**caps),
        worst_case=bound_run(run),
        held_case=bound_run(replace(run, team=team.hold())),
        answer_sources=flows.list_sources(),
        flows=tuple(flows.list_flows()),
        effects=tuple(_list_effects(run)),
        parallel_writes=tuple(flows.list_parallel_writes()),
        uncovered=run.plan.untaken,
    )
    is_free = set(run.models.name_all(run.context).values()) == {EMBEDDED}
    cases = ["no language model is set up: a run costs nothing"] if is_free else _list_cases(made)
    is_local = is_free and not _has_others(team)
    sent = _describe_sent(made, flows.list_sending(), is_local=is_local)
    return made.model_copy(update={"summary": (*cases, *sent, *_summarize(made))})


def _has_others(team: Team) -> bool:
    """Return whether a team has workers or tools whose servers may be elsewhere."""
    return bool(team.mcp_servers) or any(each.remote or each.team for each in team.roster)


def _read(given: Mapping[str, Any]) -> Certificate:
    try:
        return Certificate.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    cause = f"{'.'.join(map(str, first['loc']))}: {first['msg']}; it is {first['input']!r:.40}"
    raise SettingsInvalid(
        "the certificate cannot be used",
        cause=sanitize_line(cause, 200),
        next="make it again: supervise run … --plan-only --certificate FILE",
    )


def _list_effects(run: PlannedRun) -> Iterator[Effect]:
    tools = {worker.name: list_effect_tools(worker, run.team) for worker in run.team.roster}
    every = tuple(dict.fromkeys(tool for each in tools.values() for tool in each))
    for task in run.plan.tasks:
        if found := every if task.is_compound else tools[task.worker]:
            yield Effect(task=task.id, worker=task.worker, tools=found)


def _list_excesses(given: Certificate, now: Certificate) -> Iterator[str]:
    """Yield what a run may do that its certificate does not have."""
    if given.plan_hash != now.plan_hash:
        made, kept = (each.plan_hash[7:15] for each in (now, given))
        yield f"the plan is another one, its hash begins with {made}, not {kept}"
    if given.team != now.team:
        yield f"the team is {sanitize_line(now.team, 60)}, not {sanitize_line(given.team, 60)}"
    for name in ("model_calls", "tokens", "cost_usd"):
        most, found = getattr(given.held_case, name), getattr(now.held_case, name)
        if most is not None and (found is None or found > most):
            yield f"{name} may be {'unbounded' if found is None else f'{found:,}'}, not {most:,}"
    known = set(_list_abilities(given))
    yield from (each for each in _list_abilities(now) if each not in known)


def _list_abilities(made: Certificate) -> Iterator[str]:
    for effect in made.effects:
        yield from (f"task {effect.task} may call {tool}" for tool in effect.tools)
    for flow in made.flows:
        yield from (f"{source} may reach {flow.to}" for source in flow.sources)


def _list_cases(made: Certificate) -> Iterator[str]:
    """Yield lines for a human on the worst case, without and with the certificate."""
    for case, where in ((made.worst_case, "at most"), (made.held_case, "with --within, at most")):
        figures = ((case.model_calls, "{:,} model calls"), (case.tokens, "{:,} tokens"))
        named = (*figures, (case.cost_usd, "${:,.2f}"))
        if shown := [form.format(most) for most, form in named if most is not None]:
            yield f"{where}: {', '.join(shown)}"
    yield from (f"no bound for {reason}" for reason in made.worst_case.unbounded)


def _describe_sent(
    made: Certificate, sending: Mapping[str, str], *, is_local: bool
) -> Iterator[str]:
    """Yield lines for a human on what the plan may send, and whether that is of files and data."""
    planned = [each for each in made.flows if each.way == "plan"]
    plain = [each for each in planned if _is_plain(each, planned)]
    reads_pages = {each.to for each in plain if not each.guard}
    sent = [
        f"{_SENT[sends]}{' and of pages found' * (to in reads_pages)}, to {to}"
        for to, sends in sending.items()
        if sends in _SENT
    ]
    if sent:
        yield f"what may leave this machine: {'; '.join(sent)}"
    elif is_local and not sending:
        yield "this plan sends nothing from this machine"
    is_kept = len(plain) == len(planned) and not made.effects
    if is_kept and any("private" in each.labels for each in plain):
        yield "your files and data are not sent" + (
            "" if is_local else ", except to the language models and servers that you have set up"
        )


def _is_plain(flow: Flow, planned: Iterable[Flow]) -> bool:
    """Return whether a tool may send only a query or an address, of what is not private."""
    tools = {each.to for each in planned if each.sends in _SENT}
    is_public = "private" not in flow.labels and {*flow.sources} <= tools
    return flow.sends in _SENT and (bool(flow.guard) or is_public)


def _summarize(made: Certificate) -> Iterator[str]:
    """Yield lines for a human on what else is to be known of the plan."""
    planned = [each for each in made.flows if each.way == "plan"]
    flows = [
        f"{_join(_count_files(each.sources))} may reach {each.to} "
        f"({each.guard or 'which sends outside'})"
        for each in planned
        if not _is_plain(each, planned)
    ]
    effects = [f"task {each.task} may have an effect: {_join(each.tools)}" for each in made.effects]
    writes = [
        f"{_join(each.tasks)} may change {each.thing} at the same time"
        for each in made.parallel_writes
        if each.way == "plan"
    ]
    for lines in (flows, effects, writes):
        yield from lines[:MAX_SHOWN]
        if len(lines) > MAX_SHOWN:
            yield f"and {len(lines) - MAX_SHOWN} more of these in the certificate"
    if later := sorted({each.to for each in made.flows} - {each.to for each in planned}):
        yield f"may send something only after a failure or a change of the plan: {_join(later)}"


def _count_files(sources: Sequence[str]) -> list[str]:
    """Return sources with several materials as their number."""
    files = [name for name in sources if name.startswith("material ")]
    others = [name for name in sources if name not in files]
    return [f"{len(files)} files", *others] if len(files) > 1 else [*files, *others]


def _join(names: Iterable[str]) -> str:
    return join_names((sanitize_line(name, 60) for name in names), MAX_SHOWN)
