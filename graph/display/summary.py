"""The summary of a run: its plan, its time and its cost."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graph.display.labels import format_seconds, format_status, format_task, label_models
from graph.display.text import describe_task, make_printable, quote_task, to_one_line
from nodes.text.counts import format_cost, format_count, format_estimate, join_names

Json = Mapping[str, Any]
MIN_SPEEDUP = 1.2
"""Computed speed-up from which it is shown: a smaller one can be less than parallel work costs."""
MAX_ARGUMENTS_CHARS = 2_000
"""Limit for the arguments of a call that is to be approved; each has an equal share of it."""
MIN_ARGUMENT_CHARS = 40
MAX_EDITED = 6
REPORT_INDENT = 2
"""Columns before the texts of a report."""
_MECHANISM_LABELS: Mapping[str, str] = {
    "tools": "to use tools",
    "refine": "to reword tasks",
    "judge": "to judge",
    "select": "to choose the best attempt",
    "second look": "to look again at grave findings",
    "reduce": "to summarise results",
    "critic": "to review the answer",
    "recruit": "to make specialists",
    "route": "to choose a worker",
    "revision": "to change the plan",
    "plan review": "to review the plan",
    "surprise check": "to check for surprises",
    "step": "to choose the next step",
    "inner team": "within teams",
    "lost": "for a plan that failed",
    "plan repair": "to repair the plan",
    "synthesis repair": "to repair the answer",
    "retry": "to try tasks again",
    "earlier run": "in the earlier run",
    "speculation": "begun early and not used",
}
"""What further calls were for, by their purpose."""


def format_figures(thread: str, status: str, timing: Json, usage: Json) -> list[str]:
    """Return a few lines on a run's time, slowest chain and cost."""
    return [
        f"thread {thread} · {_format_end(status, timing)}",
        *_format_slowest_chain(timing),
        *_format_usage(usage),
    ]


def format_result(thread: str, status: str, timing: Json, usage: Json) -> str:
    """Return one line on a run: how it ended, its time and its cost."""
    cost = [format_cost(usage.get("cost_usd"))] if usage.get("model_calls") else []
    return " · ".join([f"thread {thread}", _format_end(status, timing), *cost])


def format_more(title: str, thread: str, status: str, usage: Json) -> list[str]:
    """Return the commands that show how a run went, why it is not whole, and what a model needs."""
    why = (
        f"; why it is not whole: supervise why {thread}" if status in ("partial", "failed") else ""
    )
    lines = [f"{title}: supervise show {thread} --profile{why}"]
    if _is_without_model(usage):
        lines.append("what to set so that a language model answers: supervise doctor")
    return lines


def format_comparison(comparison: Json) -> list[str]:
    """Return the measured times of a plan that ran in parallel and one task at a time."""
    labels = {"parallel": "in parallel", "sequential": "one task at a time"}
    lines = ["the same plan, measured twice, from the plan to the answer:"]
    for name, label in labels.items():
        run = comparison[name]
        seconds = "no answer" if run["seconds"] is None else format_seconds(run["seconds"])
        tasks = format_count(run["tasks"], "task")
        lines.append(f"  {label:18}  {seconds}  ({run['status']}, {tasks}, thread {run['thread']})")
    if comparison["ratio"] is not None:
        ratio = comparison["ratio"]
        speed = "faster" if ratio < 1 else "slower"
        lines.append(f"  one task at a time was {speed}: {ratio:.2f} times the time in parallel")
    return lines


def format_plan(
    plan: Json, states: Mapping[str, str] | None = None, *, number: int = 1
) -> list[str]:
    """Return a plan as lines, one for each task, with its state if known.

    Args:
        number: which plan of its request it is; the first is shown without.
    """
    lines = [f"{name_plan(number)}: {to_one_line(plan.get('goal', ''), 300)}"]
    for task in plan.get("tasks", ()):
        needs = [
            f"{edge['task']}{'' if edge.get('required', True) else ' (if it can)'}"
            for edge in task.get("depends_on") or ()
        ]
        after = f" after {', '.join(needs)}" if needs else ""
        state = f" [{states[task['id']]}]" if states and task["id"] in states else ""
        what = to_one_line(describe_task(task), 300)
        lines.append(f"  {format_task(task['id'], task['worker'])}{after}{state}: {what}")
    lines += [f"  no worker takes: {to_one_line(part, 200)}" for part in plan.get("untaken") or ()]
    return lines


def name_plan(number: int) -> str:
    """Return what a plan is called among those of its request."""
    return f"plan {number}" if number > 1 else "plan"


def format_edit(run: Json) -> list[str]:
    """Return one line on a plan that the user changed before it ran; none for any other."""
    if (tasks := run.get("edited_tasks")) is None:
        return []
    is_fork, words = run.get("is_fork"), run.get("edited_words")
    if is_fork and words:
        said = f"begun again from {tasks[0]}, whose task was changed: “{quote_task(words)}”"
        return [to_one_line(said, 300)]
    noun = "the task" if len(tasks) == 1 else "the tasks"
    named = f": {noun} {join_names(tasks, MAX_EDITED)}" if tasks else ""
    how = "begun again with a changed plan" if is_fork else "plan edited before it ran"
    return [to_one_line(f"{how}{named}", 300)]


def format_question(question: Json, *, shown_plan: Json | None = None) -> list[str]:
    """Return a run's question to the user; a plan already on the screen is not repeated."""
    problems = [f"problem: {to_one_line(text, 300)}" for text in question.get("problems") or ()]
    if question.get("kind") == "plan":
        plan = question["plan"]
        shown = [] if plan == shown_plan else format_plan(plan, number=question.get("number", 1))
        if estimate := question.get("estimate"):
            shown.append(f"expected: {format_estimate(estimate)}")
        shown += format_certificate(question.get("certificate"))
        problems += [question[key] for key in ("warning", "hint") if question.get(key)]
        return [*shown, *problems, "Run this plan? accept, reject: why, or the plan edited as JSON"]
    asker = format_task(question.get("task") or "", question.get("worker") or "")
    if question.get("kind") == "tool_call":
        call = f"{to_one_line(question['tool'], 200)} {_format_arguments(question['call_args'])}"
        wish = f"{to_one_line(asker)} wants to call {call}"
        return [*problems, wish, 'Call it? approve, reject: why, or {"args": …} as edited']
    asked = to_one_line(str(question.get("question") or question.get("is") or ""), 1000)
    # A worker on another server is named in its question, since other clients show no asker.
    asked = asked.removeprefix(f"{question.get('worker')} asks: ")
    return [*problems, f"{to_one_line(asker)} asks: {asked}"]


def _format_arguments(args: Json) -> str:
    """Return a call's arguments on one line, each of them in part: none may hide behind another."""
    share = max(MIN_ARGUMENT_CHARS, MAX_ARGUMENTS_CHARS // max(1, len(args)))
    shown = {name: _cut_argument(value, share) for name, value in args.items()}
    return to_one_line(json.dumps(shown, ensure_ascii=False), 2 * MAX_ARGUMENTS_CHARS)


def _cut_argument(value: Any, max_chars: int) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    left = len(text) - max_chars
    return value if left <= 0 else f"{text[:max_chars]}… and {format_count(left, 'character')} more"


def format_reply_command(thread: str, questions: Sequence[Json]) -> str:
    """Return the command that answers a run's questions."""
    return f"next: supervise resume {thread} --answer {_format_reply(questions)}"


def format_way_out(thread: str, questions: Sequence[Json]) -> str:
    """Return how a run is left without an answer to its questions."""
    if all(question.get("kind") == "plan" for question in questions):
        return "without an answer nothing is run"
    return f"without an answer: supervise stop {thread}; supervise resume {thread}"


def format_retry(thread: str, *, lacks_file: bool) -> str:
    """Return the command that may give a failed run its result.

    Args:
        lacks_file: there was nothing to read, so that a resume would fail again.
    """
    return "next: supervise run … --file PATH" if lacks_file else f"next: supervise resume {thread}"


def _format_reply(questions: Sequence[Json]) -> str:
    """Return a template for an answer."""
    if len(questions) > 1:
        names = (question.get("task") or question["id"] for question in questions)
        return f"'{json.dumps(dict.fromkeys(names, '…'), ensure_ascii=False)}'"
    words = {"plan": "accept", "tool_call": "approve"}
    return words.get(questions[0].get("kind", ""), "'the answer'")


def _format_end(status: str, timing: Json) -> str:
    """Return how a run ended, and after what time: `done in 2.1 s`."""
    ended, mark, more = format_status(status).partition(";")
    return f"{ended}{_format_wall_time(timing)}{mark}{more}"


def _format_wall_time(timing: Json) -> str:
    if not timing.get("wall_s"):
        return ""
    text = f" in {format_seconds(timing['wall_s'])}"
    sequential_s, speedup = timing.get("sequential_s") or 0.0, timing.get("speedup")
    if speedup is not None and speedup >= MIN_SPEEDUP:
        text += f"; without parallel work about {format_seconds(sequential_s)}"
    return text


def _format_slowest_chain(timing: Json) -> Iterator[str]:
    if timing.get("critical_path_s"):
        steps = " → ".join(to_one_line(step, 40) for step in timing.get("critical_path") or ())
        bound = _describe_bottleneck(str(timing.get("bounded_by") or ""))
        yield f"slowest chain {format_seconds(timing['critical_path_s'])}: {steps}{bound}"


def _describe_bottleneck(bound: str) -> str:
    """Return what `bounded_by` names: the longest step of the chain, or the time beyond it."""
    name, _, figures = to_one_line(bound, 80).partition(": ")
    seconds = " ".join(figures.split(" ")[:2])
    if name == "waiting":
        return f" · {seconds} waiting, for limits or as the run was resumed"
    return f", of which {name} {seconds}".rstrip() if name else ""


def _format_usage(usage: Json) -> Iterator[str]:
    if not usage.get("model_calls"):
        return
    is_built_in = _is_without_model(usage)
    parts = _list_spent(usage)[2 if is_built_in else 0 :]
    if guessed := usage.get("uncounted_calls"):
        parts.append(f"tokens of {format_count(guessed, 'call')} estimated")
    yield " · ".join(map(to_one_line, (*parts, *label_models(usage.get("models")))))
    further = [
        f"{calls} {to_one_line(_MECHANISM_LABELS.get(name, name))}"
        for name, calls in (usage.get("by_mechanism") or {}).items()
        if name not in ("plan", "work", "synthesis")
    ]
    if further and not is_built_in:
        yield f"more model calls than plan, tasks and answer: {', '.join(further)}"
    if estimate := usage.get("estimate"):
        yield f"expected: {format_estimate(estimate)}"


def _is_without_model(usage: Json) -> bool:
    return list(usage.get("models") or ()) == ["embedded"]


def format_certificate(certificate: Json | None) -> list[str]:
    """Return what a plan can at most cost and reach, a few lines; none without a certificate."""
    return [to_one_line(str(line), 300) for line in (certificate or {}).get("summary", ())]


def _list_spent(usage: Json) -> list[str]:
    read = format_count(usage.get("input_tokens", 0), "token")
    return [
        format_count(usage["model_calls"], "model call"),
        f"{read} in, {usage.get('output_tokens', 0):,} out",
        format_cost(usage.get("cost_usd")),
    ]


def format_task_heading(task: Json, state: str) -> str:
    """Return a task with its state, its confidence and its time."""
    heading, report = (
        f"{format_task(task['id'], task.get('worker', ''))}: {state}",
        task.get("report"),
    )
    if not report:
        return heading
    seconds = (report.get("ended_s") or 0) - (report.get("started_s") or 0)
    confidence = report.get("confidence")
    shown = "" if confidence is None else f", confidence {confidence}"
    return f"{heading}{shown}, {format_seconds(seconds)}"


def format_task_report(report: Json, output: str) -> list[str]:
    """Return a report's output, its problem, and the claims that the output lacks, as lines."""
    escalation, indent = report.get("escalation") or {}, " " * REPORT_INDENT
    texts = filter(None, (output, report.get("error"), escalation.get("message")))
    lines = [line for text in texts for line in make_printable(text).splitlines()]
    return [f"{indent}{line}" for line in (*lines, *_format_claims(report))]


def _format_claims(report: Json) -> Iterator[str]:
    """Yield the claims that the output does not hold, or that are not proved, with their proof."""
    output = report.get("output") or ""
    for claim in report.get("claims") or ():
        is_shown = claim.get("text") and claim["text"] in output
        if is_shown and claim.get("proof") != "unproved":
            continue
        source = f" ({to_one_line(claim['source'], 120)})" if claim.get("source") else ""
        proof = f" [{to_one_line(claim['proof'], 20)}]" if claim.get("proof") else ""
        doubt = f" {to_one_line(claim['doubt'], 300)}" if claim.get("doubt") else ""
        text = str(claim.get("text", "")).lstrip("# ")
        yield f"- {to_one_line(text, 300)}{source}{proof}{doubt}"
