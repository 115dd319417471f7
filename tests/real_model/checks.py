"""What must hold for every run, however poor the model: the protocol, never the wisdom."""

from collections.abc import Iterator

from tests.real_model.trials import Ending

TYPED_EXITS = (0, 3)
"""Done; or partial, because something is missing or the time was spent."""


def list_problems(ending: Ending) -> list[str]:
    """Return what is wrong with the end of a run, a line each."""
    checks = [_check_end, _check_whole_run]
    if ending.trial.is_killed:
        checks.append(_check_resume)
    return [problem for check in checks for problem in check(ending)]


def _check_end(ending: Ending) -> Iterator[str]:
    last = ending.stderr.strip().splitlines()[-1:]
    if ending.exit_code not in TYPED_EXITS:
        yield f"exit code {ending.exit_code}: {last}"
    if "Traceback" in ending.stderr + ending.stdout:
        yield f"a traceback was shown: {last}"
    if ending.exit_code and not ending.stderr.strip():
        yield "it ended early without a word"


def _check_whole_run(ending: Ending) -> Iterator[str]:
    outcome = ending.read_outcome()
    if not outcome:
        yield "no JSON object on stdout"
        return
    if ending.exit_code == 3 and not (outcome["error"] or (outcome["answer"] or {}).get("gaps")):
        yield "exit code 3 without an error or a gap"
    yield from _check_usage(ending)
    yield from _check_words(ending)


def _check_usage(ending: Ending) -> Iterator[str]:
    """Compare the bill with the calls in the trace."""
    bill, calls = ending.read_outcome()["usage"] or {}, ending.list_events("model_call")
    for key in ("input_tokens", "output_tokens"):
        in_trace = sum(call.get(key, 0) for call in calls)
        if bill.get(key, 0) != in_trace:
            yield f"{key}: {bill.get(key, 0)} billed, {in_trace} in the trace"
    for call in calls:
        if not call.get("error") and not call.get("output_tokens"):
            yield f"a call without usage: {call.get('schema')} of {call.get('task') or 'the run'}"


def _check_words(ending: Ending) -> Iterator[str]:
    """Check that each departure from the plain course is in the trace, and in the answer."""
    outcome, by_rule = ending.read_outcome(), ending.list_events("plan_by_rule")
    plan = outcome["plan"] or {}
    if bool(plan.get("rule_reason")) != bool(by_rule):
        yield "the plan and the trace differ on whether the plan is one by rule"
    gaps = " ".join((outcome["answer"] or {}).get("gaps") or ())
    if by_rule and outcome["answer"] and "plan" not in gaps:
        yield "the plan is one by rule, and the answer's gaps do not say so"
    for call in ending.list_events("model_call"):
        if call.get("schema") and not call.get("error") and not call.get("method"):
            yield f"a {call['schema']} whose method is not in the trace"
    for report in ending.list_events("report"):
        told = report["report"]
        if told["status"] != "completed" and not (told["error"] or told["escalation"]):
            yield f"task {report['task']} failed without a reason"


def _check_resume(ending: Ending) -> Iterator[str]:
    before = ending.events[: ending.events_before_kill]
    after = ending.events[ending.events_before_kill :]
    finished = {
        event["task"]
        for event in before
        if event.get("kind") == "report" and event["report"]["status"] == "completed"
    }
    again = {event["task"] for event in after if event.get("kind") == "task_started"}
    if both := sorted(finished & again):
        yield f"finished before the kill and worked at again: {', '.join(both)}"
