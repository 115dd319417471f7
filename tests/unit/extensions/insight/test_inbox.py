"""`supervise inbox` over runs that wait: for a plan, for an answer, for a call of a tool."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extensions.insight.inbox import QuestionChanged, read_inbox, require_listed
from graph.commands.runs import open_runs
from graph.runs.runner import resume
from graph.settings import Settings
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.screen import CapturedScreen
from tests.teams import write_team

pytestmark = pytest.mark.slow

ASKED = {
    "status": "escalated",
    "escalation": {"reason": "ambiguous_input", "message": "Which year?\x1b[2J"},
}
TOOL = '''"""Books."""
from langchain_core.tools import tool
from nodes.human.request import ask, build_tool_request

ACCESS = {"reads": [], "sends": "nothing"}


@tool
def book(what: str) -> str:
    """Book something, such as `room`.

    Args:
        what: the thing to book.
    """
    request = build_tool_request("book", {"what": what}, task="call", worker="clerk")
    return f"{ask(request).kind} {what}"
'''


@pytest.fixture(autouse=True)
def playing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """An endpoint, and a team of one worker whose tool asks before it books."""
    words = "description: Books rooms.\ntools: [book]"
    write_team(Path("clerks"), tools={"book": TOOL}, clerk=words)
    with Endpoint().run_in_thread() as endpoint:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        yield endpoint


def begin(
    supervise: CapturedScreen,
    endpoint: Endpoint,
    thread: str,
    *options: str,
    team: str = "./clerks",
    **task: Any,
) -> None:
    first = ScriptedTask(**{"id": "call", "worker": "clerk", **task})
    after = ScriptedTask(id="after", worker="clerk", depends_on=("call",))
    endpoint.load_scenario(Scenario(tasks=(first, after)))
    how = ("--team", team, "--thread", thread, "-q", *options)
    assert supervise("run", "Book the room, then report.", *how) == 7


def begin_all(supervise: CapturedScreen, endpoint: Endpoint) -> None:
    begin(supervise, endpoint, "calling", tool_calls=(("book", {"what": "room"}),))
    begin(supervise, endpoint, "asking", "--ask", report=[ASKED, {"output": "Done for 2024."}])
    begin(supervise, endpoint, "planning", "--approve")


def print_trace(supervise: CapturedScreen, thread: str) -> str:
    assert supervise("trace", thread) == 0
    return supervise.out


def read_json(supervise: CapturedScreen, *options: str) -> Any:
    supervise("inbox", "--json", *options)
    return json.loads(supervise.out)


def test_each_question_is_listed_with_what_it_blocks_and_the_command_that_answers(
    supervise: CapturedScreen, playing: Endpoint
):
    begin_all(supervise, playing)

    assert supervise("inbox") == 0

    lines = supervise.out.splitlines()
    assert "3 questions in 3 threads for a human" in supervise.err
    assert [line for line in lines if "next: " in line] == [
        "  next: supervise resume calling --answer approve",
        "  next: supervise resume asking --answer 'the answer'",
        "  next: supervise resume planning --answer accept",
    ]
    assert lines.count("  waits for it: call, after; done: nothing") == 3
    assert any("wants to call book" in line for line in lines)
    assert "Which year?" in supervise.out and "\x1b" not in supervise.out
    found = read_json(supervise)
    kinds = [each["questions"][0]["kind"] for each in found["waiting"]]
    assert kinds == ["tool_call", "question", "plan"]
    assert all(each["age_s"] >= 0 and each["asked_at"] for each in found["waiting"])
    assert read_json(supervise, "--team", "code_review")["waiting"] == []


def test_several_are_answered_at_once_and_each_run_goes_on(
    supervise: CapturedScreen, playing: Endpoint
):
    begin_all(supervise, playing)
    rules = ("--accept", "tool_call:book", "--accept-plans-below", "1")

    code = supervise("inbox", *rules, "--answer", "asking=2024", "-q")

    assert code == 0 and "answering calling: accept the call of book" in supervise.err
    assert all(f"{name} · Book the room" in supervise.out for name in ("calling", "planning"))
    assert read_json(supervise)["waiting"] == []
    for name in ("calling", "asking", "planning"):
        assert json.loads(print_trace(supervise, name))["run"]["status"] == "done"


def test_answers_name_threads_by_their_id_or_its_beginning_and_questions_by_their_task(
    supervise: CapturedScreen, playing: Endpoint
):
    begin(supervise, playing, "planning", "--approve")
    begin(supervise, playing, "asking", "--ask", report=[ASKED, {"output": "Done for 2024."}])

    given = ("--answer", "planning=accept", "--answer", 'aski={"call": "2024"}')
    found = read_json(supervise, *given)

    assert {each["status"] for each in found["answered"]} == {"done"}


def test_an_answer_to_a_task_that_asks_nothing_is_a_line(
    supervise: CapturedScreen, playing: Endpoint
):
    begin(supervise, playing, "asking", "--ask", report=[ASKED, {"output": "Done for 2024."}])

    assert supervise("inbox", "--answer", 'asking={"after": "2024"}') == 2

    assert "no open question of 'after'" in supervise.err and supervise.err.count("\n") == 1


def test_a_dry_run_and_rules_that_fit_nothing_answer_nothing(
    supervise: CapturedScreen, playing: Endpoint
):
    begin_all(supervise, playing)
    asked = len(playing.requests)

    found = read_json(supervise, "--accept", "plan", "--answer", "asking=2024", "--dry-run")
    assert [each["thread"] for each in found["would_answer"]] == ["asking", "planning"]
    assert supervise("inbox", "--accept", "tool_call:other") == 0

    assert "no question that waits fits a rule" in supervise.err
    assert "answered" not in found and len(playing.requests) == asked
    assert len(read_json(supervise)["waiting"]) == 3


def test_one_that_fails_does_not_stop_the_others(supervise: CapturedScreen, playing: Endpoint):
    begin(supervise, playing, "fine", "--approve")
    Path("clerks").rename("moved")
    begin(supervise, playing, "lost", "--approve", team="./moved")
    Path("moved").rename("clerks")

    code = supervise("inbox", "--accept", "plan", "--answer", "no=x", "-q")

    assert code == 2 and supervise.err.count("error[") == 2
    assert "thread 'no' waits for no answer" in supervise.err
    assert [each["thread"] for each in read_json(supervise)["waiting"]] == ["lost"]
    assert json.loads(print_trace(supervise, "fine"))["run"]["status"] == "done"


def test_an_answer_to_what_is_not_asked_any_more_is_not_given(
    supervise: CapturedScreen, playing: Endpoint
):
    begin(supervise, playing, "calling", tool_calls=(("book", {"what": "room"}),))
    ((listed,), _) = read_inbox(open_runs(None, Settings()))
    begin(supervise, playing, "other", tool_calls=(("book", {"what": "house"}),))

    def answer(asked: Any) -> str:
        require_listed(listed, asked)
        return "approve"

    with pytest.raises(QuestionChanged):
        resume("other", answer=answer)
    assert resume("calling", answer=answer).status == "done"
    assert [each["thread"] for each in read_json(supervise)["waiting"]] == ["other"]


def test_rejected_by_rule_the_call_is_not_made(supervise: CapturedScreen, playing: Endpoint):
    begin(supervise, playing, "calling", tool_calls=(("book", {"what": "room"}),))

    assert supervise("inbox", "--reject", "tool_call:book", "-q") == 0

    assert "reject room" in str(playing.select_calls(task="call")[-1].body)


def test_an_empty_inbox_says_so(supervise: CapturedScreen):
    assert supervise("inbox") == 0
    assert supervise.err.strip() == "nothing waits for a human" and not supervise.out


def test_an_option_that_cannot_be_used_is_one_line(supervise: CapturedScreen):
    twice = ["--answer", "a=b", "--answer", "a=c"]
    for option in (
        ["--answer", "x"],
        ["--answer", "=x"],
        twice,
        ["--accept", "all"],
        ["--accept-plans-below", "x"],
    ):
        assert supervise("inbox", *option) == 2
        assert len(supervise.err.strip().splitlines()) == 1
