"""Builds the messages for each step from its prompt and its data.

Whatever a user, a page or a worker wrote is inside a named tag, with closing tags escaped, and is
never an instruction. Nothing here formats user text with `str.format`.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from nodes.prompts.few_shot_examples import (
    UNSHOWN_FIELDS,
    format_plan_examples,
    format_route_examples,
)
from nodes.prompts.materials import (
    MAX_ARTIFACT_CHARS,
    ShownMaterial,
    format_material_card,
    format_materials,
)
from nodes.prompts.tags import format_json_line, shorten_text, wrap_in_tag
from nodes.prompts.templates import (
    CRITICIZE,
    DATABASE,
    DIVIDE,
    FOLLOW_UP,
    HUMAN_ANSWERS,
    JUDGE,
    PLAN,
    PRIOR_RESULTS,
    RECRUIT,
    REDUCE,
    REFINE,
    REVIEW_PLAN,
    REVISE,
    ROUTE,
    ROUTE_OR_PLAN,
    SELECT,
    STEP,
    SYNTHESIZE,
    WORK,
    WORK_WITH_TOOLS,
    WORKER_LOAD,
)
from nodes.schemas.handoff import Handoff
from nodes.schemas.team import Team, Worker
from nodes.security.tool_access import reaches_outside
from nodes.text.plain_text import sanitize_text
from state import Answer, Claim, Contradiction, MergedFinding, Plan, Report, Task

MAX_OUTPUT_CHARS = 24_000
MAX_REVIEWED_CHARS = 4_000
"""Limit for each part of the question whether a plan still makes sense; twice for the reports."""
MAX_REVIEWED_REPORTS = 20
MAX_GIVEN_CHARS = 600
"""Limit for a result that comes with a request, as the planner sees it; workers see all of it."""
MAX_ASSIGNMENT_CHARS = 500
"""Limit for a task's description, as the synthesizer sees it."""


def build_plan_messages(
    team: Team,
    request: str,
    materials: Mapping[str, str],
    *,
    max_tasks: int,
    history: str = "",
    may_divide: bool = False,
    load: Mapping[str, str] | None = None,
    given: Sequence[Report] = (),
    database: str = "",
) -> list[AnyMessage]:
    """Build the request for a plan; results that come with it are shortened."""
    system = [
        PLAN,
        *([DIVIDE] if may_divide else []),
        wrap_in_tag("guidance", team.guidance),
        wrap_in_tag("workers", "\n".join(map(format_worker_card, team.roster))),
        wrap_in_tag("limits", f"at most {max_tasks} tasks, chains of at most {team.max_depth}"),
    ]
    if team.examples:
        system.append(format_plan_examples(team.examples))
    human = [wrap_in_tag("history", history)] if history else []
    if materials:
        # The planner may copy what it reads into a task, whose words may go to a search engine.
        is_open = not reaches_outside(team)
        cards = [format_material_card(*item, is_open=is_open) for item in materials.items()]
        human.append(wrap_in_tag("materials", "\n".join(cards)))
    if database:
        human.append(wrap_in_tag("database", f"{DATABASE}\n{database}"))
    if given:
        lines = [f"- {each.task}: {shorten_text(each.output, MAX_GIVEN_CHARS)}" for each in given]
        human.append(wrap_in_tag("given", "\n".join([PRIOR_RESULTS, *lines])))
    human += _format_load(load)
    return _join_messages("\n\n".join(system), *human, wrap_in_tag("request", request))


def build_route_messages(
    team: Team, request: str, materials: Sequence[str], *, load: Mapping[str, str] | None = None
) -> list[AnyMessage]:
    """Build the question which worker takes a request, with the team's examples of choices."""
    prompt = "\n".join([ROUTE, *([ROUTE_OR_PLAN] if team.plan_when_needed else [])])
    system = _introduce_team(prompt, team)
    if team.examples:
        system = f"{system}\n\n{format_route_examples(team)}"
    return _join_messages(system, *_format_load(load), _format_request(request, materials))


def build_step_messages(
    team: Team,
    request: str,
    materials: Sequence[str],
    results: Sequence[Report],
    *,
    load: Mapping[str, str] | None = None,
) -> list[AnyMessage]:
    """Build the question which worker runs next, with the results so far and the workers left."""
    ran = {report.worker for report in results}
    left = [worker.name for worker in team.roster if worker.name not in ran]
    human = [*_format_load(load), _format_request(request, materials)]
    if results:
        human.append(_wrap_results(results))
    human.append(wrap_in_tag("not_yet_asked", ", ".join(left) or "none"))
    return _join_messages(_introduce_team(STEP, team), *human)


def _join_messages(system: str, *parts: str) -> list[AnyMessage]:
    """Return a prompt, and its data as one message."""
    return [SystemMessage(system), HumanMessage("\n\n".join(parts))]


def _wrap_results(reports: Iterable[Report]) -> str:
    return wrap_in_tag("results", "\n".join(map(format_report_line, reports)))


def _introduce_team(prompt: str, team: Team) -> str:
    workers = "\n".join(map(format_worker_card, team.roster))
    guidance = wrap_in_tag("guidance", team.guidance)
    return "\n\n".join([prompt, guidance, wrap_in_tag("workers", workers)])


def _format_request(request: str, materials: Sequence[str]) -> str:
    named = [wrap_in_tag("materials", "\n".join(materials))] if materials else []
    return "\n\n".join([*named, wrap_in_tag("request", request)])


def _format_load(load: Mapping[str, str] | None) -> list[str]:
    lines = [f"- {name}: {description}" for name, description in (load or {}).items()]
    return [wrap_in_tag("load", "\n".join([WORKER_LOAD, *lines]))] if lines else []


def build_revision_message(
    plan: Plan, results: Iterable[Report], reason: str, *, running: Collection[str] = ()
) -> HumanMessage:
    """Build the request for the next version of a plan."""
    parts = [
        REVISE,
        wrap_in_tag("plan", plan.model_dump_json(exclude=UNSHOWN_FIELDS)),
        _wrap_results(results),
        *([wrap_in_tag("running", ", ".join(sorted(running)))] if running else []),
        wrap_in_tag("reason", reason),
    ]
    return HumanMessage("\n\n".join(parts))


def build_plan_review_messages(
    request: str, plan: Plan, surprises: Iterable[tuple[Report, str]], waiting: Iterable[Task]
) -> list[AnyMessage]:
    """Build the question whether waiting tasks make sense after reports that were not as planned.

    Args:
        surprises: the reports, and why each is not as planned.
    """
    tasks = [f"- {each.id} ({each.worker}): {each.description}" for each in waiting]
    shown = list(surprises)[:MAX_REVIEWED_REPORTS]
    room = 2 * MAX_REVIEWED_CHARS // max(1, len(shown))
    found = [
        f"{shorten_text(why, room // 4)}\n{shorten_text(format_report_line(report), room)}"
        for report, why in shown
    ]
    return _join_messages(
        REVIEW_PLAN,
        wrap_in_tag("request", shorten_text(request, MAX_REVIEWED_CHARS)),
        wrap_in_tag("goal", plan.goal),
        wrap_in_tag("results", "\n\n".join(found)),
        wrap_in_tag("waiting", shorten_text("\n".join(tasks), MAX_REVIEWED_CHARS)),
    )


def build_problem_message(problems: Sequence[str]) -> HumanMessage:
    """Build the message that returns the problems of a plan or an answer to its author."""
    listed = "\n".join(f"- {problem}" for problem in problems)
    return HumanMessage(
        "This is refused. Write all of it again with these problems fixed:\n"
        + wrap_in_tag("problems", listed)
    )


def format_worker_card(worker: Worker) -> str:
    """Return a worker's name, description, tools and tiers as one line for the planner."""
    tools = f" Tools: {', '.join(worker.tools)}." if worker.tools else ""
    others = ", ".join(worker.tiers)
    tiers = f" Tier: {worker.tier}; for a task that needs it also {others}." if others else ""
    return f"- {worker.name}: {worker.description}{tools}{tiers}"


def build_worker_prompt(worker: Worker) -> str:
    """Return a worker's system prompt."""
    parts = [worker.instructions.strip(), WORK, *([WORK_WITH_TOOLS] if worker.tools else [])]
    return "\n\n".join(parts)


def build_handoff_message(
    handoff: Handoff,
    *,
    earlier: str = "",
    answers: Mapping[str, str] | None = None,
    shown: Sequence[ShownMaterial] = (),
) -> HumanMessage:
    """Build a worker's task: what it reads first, what it is to do last.

    So the beginning is the same in each attempt and turn, and a server reads it once. Who sends it,
    and its limits, are the program's business: a model that reads them takes them for content.

    Args:
        earlier: what was wrong with the last attempt's report.
        answers: of a human, by question.
        shown: the materials as a language model is shown them, which can read on in them; without
            it, the beginning of each is shown.
    """
    parts = format_materials(shown) or [
        wrap_in_tag("file", shorten_text(sanitize_text(text), MAX_ARTIFACT_CHARS), name=name)
        for name, text in handoff.artifacts.items()
    ]
    if handoff.context:
        lines = [format_report_line(each, names_worker=False) for each in handoff.context]
        parts.append(wrap_in_tag("context", "\n".join(lines)))
    parts.append(f"task: {handoff.task}\n{wrap_in_tag('intent', handoff.intent)}")
    if earlier:
        parts.append(wrap_in_tag("earlier_attempt", earlier))
    if answers:
        parts.append(HUMAN_ANSWERS)
        parts += [
            wrap_in_tag("answer", answer, question=asked) for asked, answer in answers.items()
        ]
    return HumanMessage("\n\n".join(parts))


def build_subteam_request(
    handoff: Handoff, *, guidance: str, earlier: str, answers: Mapping[str, str]
) -> str:
    """Return a task as the request to the team that does it."""
    parts = [handoff.intent, *([guidance] if guidance else [])]
    if earlier:
        parts.append(f"An earlier attempt at this failed:\n{earlier}")
    parts += [
        f"A human was asked: {asked}\nThe answer: {answer}" for asked, answer in answers.items()
    ]
    return "\n\n".join(parts)


def build_recruit_messages(
    task: Task, description: str, tools: Mapping[str, str]
) -> list[AnyMessage]:
    """Build the request for a specialist; `tools` are those it may have, with descriptions."""
    cards = "\n".join(f"- {name}: {summary}" for name, summary in tools.items())
    asked = wrap_in_tag("task", f"id: {task.id}\n{description}")
    return _join_messages(RECRUIT, wrap_in_tag("tools", cards or "none"), asked)


def build_refine_messages(task: Task, description: str, error: str) -> list[AnyMessage]:
    """Build the request to rewrite a task that failed."""
    asked = wrap_in_tag("task", f"id: {task.id}\nworker: {task.worker}\n{description}")
    return _join_messages(REFINE, asked, wrap_in_tag("error", error))


def build_synthesis_messages(
    team: Team,
    request: str,
    plan: Plan,
    results: Iterable[Report],
    missing: Sequence[str],
    *,
    findings: Iterable[MergedFinding] = (),
    contradictions: Iterable[Contradiction] = (),
    history: str = "",
) -> list[AnyMessage]:
    """Build the request for the answer; results keep the order given, whatever order they ended in.

    `findings` are merged from all results, which are then shown without their own.
    """
    guidance = [wrap_in_tag("guidance", team.synthesis)] if team.synthesis else []
    system = "\n\n".join([SYNTHESIZE, *([FOLLOW_UP] if history else []), *guidance])
    parts = {
        "history": history,
        "request": request,
        "plan": _format_assignments(plan),
        "final_instruction": plan.final_instruction,
        "results": "\n".join(map(format_report_line, results)),
        "findings": "\n".join(map(format_json_line, findings)),
        "contradictions": "\n".join(map(format_json_line, contradictions)),
        "missing": "\n".join(f"- {line}" for line in missing),
    }
    always = ("request", "results")
    shown = [wrap_in_tag(tag, text) for tag, text in parts.items() if text or tag in always]
    return _join_messages(system, *shown)


def _format_assignments(plan: Plan) -> str:
    """Return the plan's goal, and what each task was to do, a line each."""
    lines = [
        f"- {task.id}: {shorten_text(' '.join(task.description.split()), MAX_ASSIGNMENT_CHARS)}"
        for task in plan.tasks
    ]
    return "\n".join([f"goal: {plan.goal}", *lines])


def build_judge_messages(request: str, pairs: Iterable[tuple[Claim, Claim]]) -> list[AnyMessage]:
    """Build the request for verdicts on pairs of claims, numbered from 1."""
    lines = [
        f'{{"pair": {number}, "first": {format_json_line(first)}, "second": '
        f"{format_json_line(second)}}}"
        for number, (first, second) in enumerate(pairs, start=1)
    ]
    asked = wrap_in_tag("request", request)
    return _join_messages(JUDGE, asked, wrap_in_tag("pairs", "\n".join(lines)))


def build_selection_messages(description: str, attempts: Iterable[Report]) -> list[AnyMessage]:
    """Build the question which of several attempts at one task is best."""
    asked = wrap_in_tag("intent", description)
    return _join_messages(SELECT, asked, _wrap_results(attempts))


def build_reduction_messages(
    request: str, results: Iterable[Report], *, max_chars: int
) -> list[AnyMessage]:
    """Build the request for a summary of some of the results."""
    prompt = REDUCE.replace("{max_chars}", str(max_chars))
    return _join_messages(prompt, wrap_in_tag("request", request), _wrap_results(results))


def build_critique_messages(
    request: str, plan: Plan, answer: Answer, results: Iterable[Report]
) -> list[AnyMessage]:
    """Build the request for a review of the answer."""
    return _join_messages(
        CRITICIZE,
        wrap_in_tag("request", request),
        wrap_in_tag("plan", plan.model_dump_json(exclude=UNSHOWN_FIELDS)),
        _wrap_results(results),
        wrap_in_tag("answer", format_json_line(answer)),
    )


def format_report_line(report: Report, *, names_worker: bool = True) -> str:
    """Return a report as one line of JSON for a model: its content, not its cost.

    Args:
        names_worker: says who wrote it; a worker does not know the others.
    """
    shown: dict[str, Any] = report.model_dump(
        mode="json",
        include={"task", "worker", "status", "output", "claims", "findings", "gaps", "confidence"},
        exclude_none=True,
    )
    own = () if report.has_found_claims else report.claims  # others are in the output
    shown["claims"] = [_format_claim(claim) for claim in own]
    shown["output"] = shorten_text(report.output, MAX_OUTPUT_CHARS)
    if report.error:
        shown["error"] = report.error
    if report.found_as_expected is False:
        shown["found_as_expected"] = False
    if report.escalation:
        shown["escalation"] = report.escalation.model_dump(mode="json")
    for name in ("findings", "gaps"):
        if not shown[name]:
            del shown[name]
    if not names_worker:
        del shown["worker"]
    return json.dumps(shown, ensure_ascii=False)


def _format_claim(claim: Claim) -> dict[str, Any]:
    """Return a claim without what is empty; its proof only where it is not proved."""
    is_doubted = claim.proof == "unproved"
    hidden = {"doubt"} if is_doubted else {"doubt", "proof"}
    return claim.model_dump(mode="json", exclude=hidden, exclude_none=True)
