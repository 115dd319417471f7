"""`supervise inbox`: lists what waits for a human, and answers several threads at once."""

import asyncio
import sys
from collections.abc import Mapping
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from shlex import quote
from typing import Any, Final

from extensions.insight.inbox import (
    Inbox,
    Rules,
    Waiting,
    decide_replies,
    parse_answers,
    parse_rules,
    read_inbox,
    require_listed,
)
from extensions.insight.inbox_options import InboxOptions
from graph.commands.cancellation import run_cancellable
from graph.commands.output import print_json, print_text
from graph.commands.run import print_outcome
from graph.commands.runs import Runs, RunsHere, open_runs
from graph.display.stderr_console import print_to_stderr
from graph.display.summary import format_question, format_reply_command
from graph.display.text import to_one_line
from graph.runs.outcome import Outcome
from graph.runs.runner import aresume
from graph.settings import Settings
from graph.topology.answers import NoOpenQuestion, Question
from nodes.errors import SupervisorError
from nodes.errors.redaction import redact_value
from nodes.text.counts import format_count
from state import Context

MAX_RESUMED: Final = 4
"""Runs that continue at once."""
MAX_LINES: Final = 12
"""Of one question."""
MAX_LINE_CHARS: Final = 300
MAX_NAMES: Final = 8
Json = dict[str, Any]


def show_inbox(options: InboxOptions, settings: Settings) -> int:
    """List what waits; with answers or rules, answer it. Return the exit code.

    Raises:
        UsageError: an answer or a rule cannot be used.
        SupervisorError: the server of the runs cannot be used.
    """
    rules = parse_rules(options.accept or (), options.reject or (), options.accept_plans_below)
    runs = open_runs(options.url, settings)
    inbox = read_inbox(runs, options.team)
    answers = parse_answers(options.answer or (), inbox)
    for thread in inbox.unreadable:
        print_to_stderr(f"not read: thread {to_one_line(thread, 80)}, its log is damaged")
    is_listing = not (answers or rules != Rules())
    command = _Answering(options, runs, settings)
    if is_listing and not options.as_json:
        command.print_listing(inbox)
    results, code = ([], 0) if is_listing else command.answer(inbox, answers, rules)
    if options.as_json:
        print_json(redact_value(command.build_json(inbox, results)))
    return code


@dataclass(frozen=True)
class _Answering:
    options: InboxOptions
    runs: Runs
    settings: Settings

    def print_listing(self, inbox: Inbox) -> None:
        """Print each question with what it blocks and the command that answers it."""
        count = sum(len(each.questions) for each in inbox.waiting)
        threads = format_count(len(inbox.waiting), "thread")
        said = f"{format_count(count, 'question')} in {threads}" if count else "nothing waits"
        print_to_stderr(f"{said} for a human")
        now = datetime.now(UTC)
        for each in inbox.waiting:
            age = _format_age(each.measure_age_s(now))
            head = (each.thread, to_one_line(each.team, 40), age, to_one_line(each.request, 100))
            print_text("\n" + " · ".join(head))
            for question in each.questions:
                print_text("\n".join(f"  {line}" for line in _describe(each, question)))
            print_text(f"  {self._name_command(each)}")

    def answer(
        self, inbox: Inbox, answers: Mapping[str, str], rules: Rules
    ) -> tuple[list[Json], int]:
        """Answer what the user's words and rules are about; return what came of it, and the code.

        What fails is printed as a line, and the others continue.
        """
        decided = [(e, decide_replies(e, answers.get(e.thread), rules)) for e in inbox.waiting]
        chosen = [(each, reply) for each, reply in decided if reply]
        lost = [name for name in answers if name not in {each.thread for each, _ in chosen}]
        results = [self._note_lost(name) for name in lost]
        for each, _ in chosen:
            word = "would answer" if self.options.dry_run else "answering"
            given = answers.get(each.thread)
            said = _format_replies(each, rules) if given is None else repr(to_one_line(given, 300))
            print_to_stderr(f"{word} {each.thread}: {said}")
        if not chosen and not lost:
            print_to_stderr("no question that waits fits a rule")
        if self.options.dry_run:
            results += [{"thread": each.thread, "answer": reply} for each, reply in chosen]
        elif isinstance(self.runs, RunsHere):
            work = self._resume_here(chosen)
            results += run_cancellable(work, farewell=lambda: "stopped. next: supervise inbox")
        else:
            results += [self._resume_there(each, reply) for each, reply in chosen]
        return results, next((each["exit_code"] for each in results if each.get("exit_code")), 0)

    async def _resume_here(self, chosen: list[tuple[Waiting, str]]) -> list[Json]:
        gate = asyncio.Semaphore(MAX_RESUMED)

        async def resume(waiting: Waiting, reply: str) -> Json:
            def reply_to(asked: Any) -> str:
                require_listed(waiting, asked)
                return reply

            async with gate:
                try:
                    outcome = await aresume(waiting.thread, answer=reply_to, settings=self.settings)
                except SupervisorError as error:
                    return self._note_failure(waiting.thread, reply, error)
            return self._note_outcome(waiting, reply, outcome)

        return list(await asyncio.gather(*(resume(*each) for each in chosen)))

    def _resume_there(self, waiting: Waiting, reply: str) -> Json:
        """Answer a run of a server, which is looked at again just before."""
        shown = redirect_stdout(sys.stderr) if self.options.as_json else nullcontext()
        assert not isinstance(self.runs, RunsHere), "a server has them"
        try:
            require_listed(
                waiting, self.runs.load_trace(waiting.thread)["run"].get("questions", ())
            )
            with shown:
                code = self.runs.resume(
                    waiting.thread,
                    answer=reply,
                    context=Context(),
                    as_json=False,
                    quiet=self.options.quiet,
                )
            status = self.runs.load_trace(waiting.thread)["run"]["status"]
        except SupervisorError as error:
            return self._note_failure(waiting.thread, reply, error)
        return {"thread": waiting.thread, "answer": reply, "status": status, "exit_code": code}

    def _note_outcome(self, waiting: Waiting, reply: str, outcome: Outcome) -> Json:
        if not self.options.as_json:
            print_text(f"\n{waiting.thread} · {to_one_line(waiting.request, 200)}")
            print_outcome(outcome, outcome.to_json(), as_json=False, quiet=self.options.quiet)
        shown = {"status": outcome.status, "outcome": outcome.to_json()}
        return {"thread": waiting.thread, "answer": reply, **shown, "exit_code": outcome.exit_code}

    def _note_failure(self, thread: str, reply: str, error: SupervisorError) -> Json:
        print_to_stderr(error.format_line(), style="red")
        said = {"code": error.code, "message": str(error)}
        return {"thread": thread, "answer": reply, "error": said, "exit_code": error.exit_code}

    def _note_lost(self, name: str) -> Json:
        """Return what came of an answer to a thread that was not listed: nothing was sent."""
        error = NoOpenQuestion(
            f"thread {to_one_line(name, 80)!r} waits for no answer",
            kept="the thread as it is",
            next="supervise inbox",
        )
        return self._note_failure(name, "", error)

    def _name_command(self, waiting: Waiting) -> str:
        url = f" --url {quote(self.options.url)}" if self.options.url else ""
        return format_reply_command(f"{waiting.thread}{url}", waiting.questions)

    def build_json(self, inbox: Inbox, results: list[Json]) -> Json:
        """Return the one object that `--json` prints."""
        now = datetime.now(UTC)
        return {
            "waiting": [
                {
                    "thread": each.thread,
                    "team": each.team,
                    "request": each.request,
                    "asked_at": each.asked_at.isoformat() if each.asked_at else None,
                    "age_s": each.measure_age_s(now),
                    "done": each.list_done(),
                    "questions": [
                        {**asked, "blocks": each.list_blocked(asked)} for asked in each.questions
                    ],
                    "next": self._name_command(each).removeprefix("next: "),
                }
                for each in inbox.waiting
            ],
            "unreadable": inbox.unreadable,
            "answered": [] if self.options.dry_run else results,
            "would_answer": results if self.options.dry_run else [],
        }


def _describe(waiting: Waiting, question: Question) -> list[str]:
    lines = [to_one_line(line, MAX_LINE_CHARS) for line in format_question(question)]
    if len(lines) > MAX_LINES:
        left = format_count(len(lines) - MAX_LINES, "more line")
        lines = [*lines[: MAX_LINES - 1], f"  … {left}: supervise show {waiting.thread}", lines[-1]]
    blocked, done = waiting.list_blocked(question), waiting.list_done()
    return [*lines, f"waits for it: {_join(blocked)}; done: {_join(done)}"]


def _join(names: list[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return to_one_line(", ".join(names[:MAX_NAMES]), 400) + more if names else "nothing"


def _format_replies(waiting: Waiting, rules: Rules) -> str:
    """Return what the rules answer to each question of a thread."""
    said = list[str]()
    for each in waiting.questions:
        verb = next(iter(rules.decide(each) or ()), "leave open")
        tool, task = (
            to_one_line(each.get("tool") or "", 80),
            to_one_line(each.get("task") or "", 80),
        )
        of_task = f" of {task}" if task else ""
        what = {"plan": "the plan", "tool_call": f"the call of {tool}"}.get(
            str(each.get("kind")), "the question"
        )
        said.append(f"{verb} {what}{of_task}")
    return "; ".join(said)


def _format_age(seconds: float | None) -> str:
    """Return for how long a question waits, in its largest unit."""
    if seconds is None:
        return "age unknown"
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return f"{int(seconds)} s"
