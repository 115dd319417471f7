"""`supervise inbox`: lists what waits for a human, and answers several threads at once."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from extensions.insight.inbox import Rules, Waiting, read_inbox, require_listed
from extensions.insight.options import InboxOptions
from graph.commands.cancellation import run_cancellable
from graph.commands.output import print_json, print_text
from graph.commands.run import print_outcome
from graph.commands.runs import RunsHere, choose_thread, open_runs, require_team
from graph.display.stderr_console import print_to_stderr
from graph.display.summary import format_question, format_reply_command
from graph.display.text import to_one_line
from graph.extensions import RunSource
from graph.runs.outcome import Outcome
from graph.settings import Settings
from graph.topology.answers import NoOpenQuestion, Question, assign_answer
from nodes.errors import SupervisorError, UsageError
from nodes.errors.redaction import redact_value
from nodes.text.counts import format_count, join_names
from state import Context

MAX_RESUMED: Final = 4
"""Runs that continue at once."""
MAX_LINES: Final = 12
"""Of one question."""
MAX_NAMES: Final = 8
Json = dict[str, Any]


def show_inbox(options: InboxOptions, settings: Settings) -> int:
    """List what waits; with answers or rules, answer it. Return the exit code.

    Raises:
        UsageError: an answer, a rule or the team's name cannot be used.
        SupervisorError: the server of the runs cannot be used.
    """
    rules = Rules(
        accept=options.accept or (),
        reject=options.reject or (),
        plans_below_usd=options.accept_plans_below,
    )
    runs = open_runs(options.url, settings)
    waiting, unreadable = read_inbox(runs, options.team)
    if options.team and not waiting and not options.url:
        require_team(options.team, settings)
    answers = _read_answers(options.answer or (), [each.thread for each in waiting])
    for thread in unreadable:
        print_to_stderr(f"not read: thread {to_one_line(thread, 80)}, its log is damaged")
    results, is_answering = list[Json](), bool(answers) or rules != Rules()
    if is_answering:
        results = _Answering(options, runs).answer(waiting, answers, rules)
    elif not options.as_json:
        _print_listing(waiting, runs)
    if options.as_json:
        listed = [_to_json(each, runs) for each in waiting]
        word = "would_answer" if options.dry_run else "answered"
        print_json(redact_value({"waiting": listed, "unreadable": unreadable, word: results}))
    return next((each["exit_code"] for each in results if each.get("exit_code")), 0)


def _read_answers(given: Sequence[str], threads: Sequence[str]) -> dict[str, str]:
    """Return the answers by their threads, which may be named by the beginning of their ids.

    Raises:
        UsageError: one has not the form THREAD=TEXT, or a thread is named twice.
    """
    found = dict[str, str]()
    for each in given:
        name, _, text = map(str.strip, each.partition("="))
        thread = choose_thread(name, threads) if name and text else ""
        if not thread or thread in found:
            said = "names its thread again" if thread else "has no thread and text"
            raise UsageError(f"--answer {each!r:.80} {said}", next="write THREAD=TEXT, once each")
        found[thread] = text
    return found


@dataclass(frozen=True)
class _Answering:
    options: InboxOptions
    runs: RunSource

    def answer(
        self, waiting: Sequence[Waiting], answers: Mapping[str, str], rules: Rules
    ) -> list[Json]:
        """Answer what the user's words and rules are about; return what came of it.

        What fails is printed as a line, and the others continue.
        """
        results, chosen = list[Json](), list[tuple[Waiting, str]]()
        for name in answers.keys() - {each.thread for each in waiting}:
            error = NoOpenQuestion(f"thread {name!r:.80} waits for no answer")
            results.append(self._note_failure(name, error))
        for each in waiting:
            try:
                replies = _decide(each, answers.get(each.thread), rules)
            except SupervisorError as error:  # it names a question that is not open
                results.append(self._note_failure(each.thread, error))
                continue
            if replies:
                chosen.append((each, json.dumps(replies)))
                word = "would answer" if self.options.dry_run else "answering"
                print_to_stderr(f"{word} {each.thread}: {_format_replies(each, replies)}")
        if not chosen and not results:
            print_to_stderr("no question that waits fits a rule")
        if self.options.dry_run:
            return results + [{"thread": each.thread, "answer": reply} for each, reply in chosen]
        if not isinstance(self.runs, RunsHere):
            return results + [self._resume_there(*each) for each in chosen]
        work = self._resume_here(chosen)
        return results + run_cancellable(work, farewell=lambda: "stopped. next: supervise inbox")

    async def _resume_here(self, chosen: Sequence[tuple[Waiting, str]]) -> list[Json]:
        gate = asyncio.Semaphore(MAX_RESUMED)

        async def resume(waiting: Waiting, reply: str) -> Json:
            def reply_to(asked: Sequence[Question]) -> str:
                require_listed(waiting, asked)
                return reply

            try:
                async with gate:
                    outcome = await self.runs.resume(waiting.thread, answer=reply_to)
            except SupervisorError as error:
                return self._note_failure(waiting.thread, error)
            return self._show(waiting, outcome)

        return list(await asyncio.gather(*(resume(*each) for each in chosen)))

    def _resume_there(self, waiting: Waiting, reply: str) -> Json:
        """Answer a run of a server, which is looked at again just before."""
        try:
            trace = self.runs.load_trace(waiting.thread)
            require_listed(waiting, trace["run"].get("questions", ()))
            work = self.runs.resume(waiting.thread, answer=reply, context=Context())
            outcome = run_cancellable(work, farewell=lambda: "stopped. next: supervise inbox")
            return self._show(waiting, outcome)
        except SupervisorError as error:
            return self._note_failure(waiting.thread, error)

    def _show(self, waiting: Waiting, outcome: Outcome) -> Json:
        shown, named = outcome.to_json(), self.runs.name_thread(waiting.thread)
        if not self.options.as_json:
            print_text(f"\n{waiting.thread} · {to_one_line(waiting.request, 200)}")
            print_outcome(outcome, shown, named=named, as_json=False, quiet=self.options.quiet)
        return {**shown, "exit_code": outcome.exit_code}

    def _note_failure(self, thread: str, error: SupervisorError) -> Json:
        error.kept = error.kept or "the thread as it is"
        error.next = error.next or "supervise inbox"
        print_to_stderr(error.format_line(), style="red")
        said = {"code": error.code, "message": str(error)}
        return {"thread": thread, "error": said, "exit_code": error.exit_code}


def _decide(waiting: Waiting, answer: str | None, rules: Rules) -> dict[str, Any]:
    """Return the replies to a thread's questions by their ids; no rule is added to own words.

    Raises:
        AnswerUnclear: the words name a question that is not open.
    """
    if answer is not None:
        return assign_answer(answer, waiting.questions)
    decided = {each["id"]: rules.decide(each) for each in waiting.questions}
    return {name: reply for name, reply in decided.items() if reply is not None}


def _format_replies(waiting: Waiting, replies: Mapping[str, Any]) -> str:
    said = list[str]()
    for each in waiting.questions:
        if (reply := replies.get(each["id"])) is None:
            continue
        names = {"plan": "the plan", "tool_call": f"the call of {each.get('tool')}"}
        what = names.get(str(each.get("kind")), f"the question of {each.get('task') or 'the run'}")
        is_ruled = isinstance(reply, Mapping) and len(reply) == 1
        verb = next(iter(reply)) if is_ruled else f"{json.dumps(reply, ensure_ascii=False)} to"
        said.append(to_one_line(f"{verb} {what}", 200))
    return "; ".join(said)


def _print_listing(waiting: Sequence[Waiting], runs: RunSource) -> None:
    """Print each question with what it blocks and the command that answers it."""
    count = format_count(sum(len(each.questions) for each in waiting), "question")
    said = f"{count} in {format_count(len(waiting), 'thread')}" if waiting else "nothing waits"
    print_to_stderr(f"{said} for a human")
    for each in waiting:
        head = (each.thread, each.team, _format_age(each.measure_age_s()), each.request)
        print_text("\n" + " · ".join(to_one_line(text) for text in head))
        for question in each.questions:
            lines = [to_one_line(line, 300) for line in format_question(question)]
            if len(lines) > MAX_LINES:
                left = format_count(len(lines) - MAX_LINES, "more line")
                last = -1 - len(question.get("problems") or ())
                lines[MAX_LINES - 1 : last] = [f"… {left}: supervise show {each.thread}"]
            lists = (each.list_blocked(question), each.list_done())
            blocked, done = (to_one_line(join_names(n, MAX_NAMES), 400) or "nothing" for n in lists)
            lines += [f"waits for it: {blocked}; done: {done}"]
            print_text("\n".join(f"  {line}" for line in lines))
        command = format_reply_command(runs.name_thread(each.thread), each.questions)
        print_text(f"  {command}")


def _to_json(waiting: Waiting, runs: RunSource) -> Json:
    command = format_reply_command(runs.name_thread(waiting.thread), waiting.questions)
    return {
        "thread": waiting.thread,
        "team": waiting.team,
        "request": waiting.request,
        "asked_at": waiting.asked_at.isoformat() if waiting.asked_at else None,
        "age_s": waiting.measure_age_s(),
        "done": waiting.list_done(),
        "questions": [{**e, "blocks": waiting.list_blocked(e)} for e in waiting.questions],
        "next": command.removeprefix("next: "),
    }


def _format_age(seconds: float | None) -> str:
    """Return for how long a question waits, in its largest unit."""
    units = {"d": 86_400, "h": 3_600, "min": 60, "s": 1}
    found = (f"{int(seconds // n)} {u}" for u, n in units.items() if seconds and seconds >= n)
    return "age unknown" if seconds is None else next(found, "0 s")
