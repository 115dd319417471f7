"""What a person sees of a run while it runs, and when it is over."""

import json
import sys
from io import StringIO
from pathlib import Path
from shlex import quote
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from graph.commands.output import print_json, print_text
from graph.display.labels import label_task
from graph.display.progress_display import ProgressTable
from graph.display.progress_lines import format_event
from graph.display.streams import announce_line
from graph.display.summary import format_figures, format_plan, format_question
from graph.display.text import describe_task, make_printable, name_command, to_one_line
from graph.runs.run_view import RunView
from nodes.telemetry.events import EventKind
from nodes.text.markdown import format_answer
from nodes.text.phrases import PHRASES, say
from tests.snapshots import check_snapshot

PLAN = {
    "goal": "Compare.",
    "version": 1,
    "tasks": [
        {
            "id": "T1",
            "worker": "analyst",
            "description": "Count [red]apples[/red].",
            "depends_on": [],
        },
        {
            "id": "T2",
            "worker": "writer",
            "description": "Write it.",
            "depends_on": [{"task": "T1"}],
        },
    ],
}


@pytest.fixture
def board() -> RunView:
    board = RunView("t1")
    board.apply_event(
        {"kind": "request", "team": "fruit", "models": {"fast": "embedded", "strong": "x:y"}}
    )
    board.apply_event({"kind": "plan_created", "plan": PLAN, "version": 1})
    return board


def draw_board(board: RunView, width: int = 160) -> str:
    page = StringIO()
    Console(file=page, width=width).print(ProgressTable(board))
    return page.getvalue()


def list_states(board: RunView) -> dict[str, str]:
    return {row.id: " ".join([label_task(row), *row.waits_for]) for row in board.list_tasks()}


INNER = {"goal": "Count.", "tasks": [{"id": "A", "worker": "clerk", "description": "Add."}]}
AT = {"task": "T1", "worker": "analyst"}
WITHIN = {"task": "T1", "within": "T1"}
SLOW = {"kind": "limits_scaled", "model": "x:y", "tokens_per_s": 5.0, "factor": 6.0}
STORY: list[dict[str, Any]] = [
    {"kind": "request", "team": "fruit", "kept_materials": ["a.csv", "b\x1b[2J.md"]},
    {"kind": "plan_rejected", "problems": ["cycle"]},
    {"kind": "plan_created", "plan": PLAN, "version": 1, "awaits_approval": True, "notes": ["?"]},
    {"kind": "plan_approved", "version": 1},
    {"kind": "plan_created", "plan": {**PLAN, "untaken": ["book flights"]}, "version": 1},
    {"kind": "awaiting", "task": "T2", "worker": "writer", "tasks": ["T1"]},
    {"kind": "task_started", **AT, "attempt": 1},
    {"kind": "model_call", **AT, "input_tokens": 5, "output_tokens": 2},
    {"kind": "tool_call", **AT, "tool": "x"},
    SLOW,
    {**SLOW, "tokens_per_s": 0.0, "timeouts": 2},
    {"kind": "task_started", **AT, "attempt": 2},
    {"kind": "request", "team": "clerks", **WITHIN},
    {"kind": "plan_created", "plan": INNER, **WITHIN},
    {"kind": "report", "task": "T1/A", "report": {"status": "completed"}},
    {"kind": "answer", "within": "T1"},
    {"kind": "plan_revised", "plan": PLAN, "version": 2, "reason": "No apples are left."},
    {"kind": "report", **AT, "report": {"status": "completed", "started_s": 0, "ended_s": 1}},
    {"kind": "plan_created", "plan": PLAN, "version": 3},
    {"kind": "report", **AT, "report": {"status": "failed", "error": "no data"}},
    {"kind": "task_skipped", "task": "T2", "worker": "writer", "reason": "T1 failed"},
]


def test_a_run_is_told_line_by_line_with_the_state_of_each_task() -> None:
    board, told = RunView("t1"), []
    for event in STORY:
        board.apply_event(event)
        states = [f"{name} {state}" for name, state in list_states(board).items()]
        told.append(f"# {event['kind']}: {', '.join(states)}\n{format_event(board, event)}")

    check_snapshot("progress.txt", "\n".join([*told, draw_board(board, 100)]))
    assert board.teams[""].name == "fruit" and board.tokens == 7


def test_the_built_in_model_writes_no_tokens(board):
    call = {"kind": "model_call", "task": "T1", "input_tokens": 5, "output_tokens": 2}
    board.apply_event({**call, "model": "embedded"})

    assert (board.tokens, board.list_tasks()[0].tokens) == (0, 0)


def test_tokens_are_counted_by_task_and_by_run(board):
    board.apply_event({"kind": "model_call", "task": "T1", "input_tokens": 5, "output_tokens": 2})
    board.apply_event({"kind": "model_call", "task": "", "input_tokens": 10, "output_tokens": None})

    assert board.tokens == 17
    assert board.list_tasks()[0].tokens == 7


def test_the_screen_shows_who_does_what_and_takes_markup_for_text(board):
    board.apply_event({"kind": "task_started", "task": "T1"})
    board.apply_event({"kind": "tool_call", "task": "T1", "tool": "calculate", "error": "refused"})

    shown = draw_board(board)

    assert "embedded (no language model: quotes and computes)" in shown
    assert "Count [red]apples[/red]." in shown
    assert "calculate failed: refused" in shown


@pytest.mark.parametrize("width", [1, 20, 10_000])
def test_o06_a_screen_of_any_width_can_be_drawn_on(board, width):
    board.apply_event({"kind": "task_started", "task": "T1", "attempt": 1})

    assert all(len(line) <= width for line in draw_board(board, width).splitlines())


def test_the_line_of_a_report_holds_its_first_line_cut_and_escaped(board, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    output = f"\n---\n## Apples:\x1b[2J {'many ' * 40}\nmore"
    report = {"status": "completed", "output": output, "started_s": 0, "ended_s": 1}
    event = {"kind": "report", "task": "T1", "worker": "analyst", "report": report}
    board.apply_event(event)

    line = format_event(board, event)

    assert line.startswith("T1 analyst done in 1.00 s: Apples:[2J many many")
    assert line.endswith("…") and len(line) <= 60
    assert "Apples:[2J many" in draw_board(board)


def test_the_end_of_an_answer_is_shown_while_it_is_written(board):
    board.answer_text = "\n".join(f"line {number} \x1b[2J" for number in range(200))

    shown = draw_board(board)
    assert "line 199" in shown and "line 0 " not in shown and "\x1b" not in shown

    board.apply_event({"kind": "synthesized"})
    assert "line" not in draw_board(board)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"kind": st.sampled_from(get_args(EventKind))},
            optional={
                "task": st.sampled_from(["T1", "T2", "T9", ""]),
                "tool": st.text(),
                "reason": st.text(),
                "attempt": st.integers(1, 9),
                "input_tokens": st.none() | st.integers(0, 99),
                "plan": st.just(PLAN),
                "report": st.just({"status": "escalated"}),
            },
        )
    )
)
def test_any_order_of_events_can_be_shown(events):
    board = RunView()
    for event in events:
        board.apply_event(event)
        format_event(board, event)

    assert all(len(line) <= 160 for line in draw_board(board).splitlines())


@given(st.text())
def test_what_is_shown_steers_no_terminal(text):
    shown = make_printable(text)

    assert all(character in "\n\t" or ord(character) >= 32 for character in shown)
    assert not {"\x1b", "\x7f", "\x9b", "\u202e", "\u200b", "\U000e0041"} & set(shown)
    assert "\n" not in to_one_line(text)


def test_an_answer_names_its_sources_gaps_contradictions_and_what_is_unsure():
    sides = [{"text": "5", "source": "a.md"}, {"text": "6", "source": ""}]
    finding = {"severity": "high", "file": "a.py", "line": 3, "message": "Odd."}
    answer = {
        "text": "North grew.",
        "confidence": 70,
        "unrated": ["t1", "t2"],
        "sources": ["a.json#x/1", "b.md", "a.json#x/2", "c.json#y/1"],
        "gaps": ["South is missing"],
        "findings": [{**finding, "confidence": None}],
        "contradictions": [{"subject": "North", "claims": sides, "verdict": "undecided"}],
    }
    unknown = {"text": "x", "confidence": None, "unrated": ["t1"]}

    shown = [format_answer(each) for each in (answer, unknown)]

    check_snapshot("answer.txt", "\n---\n".join(shown))


def test_the_figures_say_what_bounded_the_run_and_what_it_cost():
    timing = {
        "wall_s": 2.0,
        "sequential_s": 3.0,
        "speedup": 1.5,
        "critical_path_s": 1.9,
        "critical_path": ["supervisor", "T1"],
        "bounded_by": "T1: 1.80 s of the slowest chain's 1.90 s",
    }
    usage = {"model_calls": 1, "input_tokens": 1200, "output_tokens": 3, "cost_usd": None}

    lines = format_figures("t1", "done", timing, {**usage, "models": ["openai:x"]})

    assert lines == [
        "thread t1 · done in 2.00 s; without parallel work about 3.00 s",
        "slowest chain 1.90 s: supervisor → T1, of which T1 1.80 s",
        "1 model call · 1,200 tokens in, 3 out · cost unknown · openai:x",
    ]
    assert format_figures("t1", "failed", {}, {}) == ["thread t1 · failed"]


@pytest.mark.parametrize("speedup", [None, 1.0, 1.1])
def test_what_hardly_exceeds_the_cost_of_parallel_work_is_not_shown_as_its_gain(speedup):
    chain = {"sequential_s": 2.04, "critical_path_s": 1.0, "speedup": speedup, "wall_s": 2.04}

    first, path = format_figures("t1", "done", {**chain, "critical_path": ["supervisor", "T1"]}, {})

    assert first == "thread t1 · done in 2.04 s"
    assert path == "slowest chain 1.00 s: supervisor → T1"


def test_a_plan_is_written_with_its_dependencies():
    task = {"id": "T2", "worker": "w", "description": "d"}
    edges = [{"task": "T1", "required": False}, {"task": "T0", "required": True}]

    lines = format_plan({"goal": "g", "tasks": [{**task, "depends_on": edges}]}, {"T2": "done"})

    assert lines == ["plan: g", "  T2 w after T1 (if it can), T0 [done]: d"]


def test_a_plan_that_was_edited_is_named_with_its_changed_tasks(board: RunView):
    tasks: Any = PLAN["tasks"]
    edited = {**PLAN, "tasks": [*tasks[:-1], {**tasks[-1], "description": "Write it shorter."}]}
    event = {"kind": "plan_approved", "edited": True, "plan": edited}
    board.apply_event(event)

    assert format_event(board, event) == f"plan edited before it ran: the task {tasks[-1]['id']}"
    board.apply_event({"kind": "request", "team": "fruit"})
    assert format_event(board, {"kind": "plan_approved", "edited": False}) == ""


def test_a_run_begun_again_with_a_changed_task_says_what_it_was_changed_to(board: RunView):
    tasks: Any = PLAN["tasks"]
    asks = 'Do this part of the request: "Sum of sold by hall": a card. Of an analyst.'
    edited = {**PLAN, "tasks": [*tasks[:-1], {**tasks[-1], "description": asks}]}
    event = {"kind": "plan_approved", "edited": True, "is_fork": True, "plan": edited}
    board.apply_event(event)

    said = f"begun again from {tasks[-1]['id']}, whose task was changed: “Sum of sold by hall”"
    assert format_event(board, event) == said


def test_a_worker_on_another_server_is_named_once_before_its_question() -> None:
    question = {"kind": "question", "task": "desk", "worker": "desk"}

    assert format_question({**question, "question": "desk asks: Which year?"}) == [
        "desk asks: Which year?"
    ]
    assert format_question({**question, "question": "Which year?"}) == ["desk asks: Which year?"]


def test_advice_names_the_command_as_it_was_called():
    line = "error[USAGE] no such run. next: supervise runs"

    assert name_command(line, "bin/supervise").endswith("next: bin/supervise runs")
    assert name_command(line, "/opt/a b/supervise").endswith("next: '/opt/a b/supervise' runs")
    both = "next: free disk space; then supervise resume a"
    assert name_command(both, "bin/supervise").endswith("then bin/supervise resume a")
    assert name_command("we supervise agents", "bin/supervise") == "we supervise agents"


def test_advice_names_a_command_that_the_shell_finds_by_its_name_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    found = tmp_path / "supervise"
    found.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert name_command("next: supervise runs", str(found)) == "next: supervise runs"


def test_advice_in_json_names_the_command_as_it_was_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "argv", ['it\'s "here"/supervise', "run"])

    print_json({"gaps": [say("en", "set_model")]})

    (gap,) = json.loads(capsys.readouterr().out)["gaps"]
    assert gap.endswith(f": {quote(sys.argv[0])} doctor)")


def test_advice_before_there_is_a_display_names_the_command_as_it_was_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "argv", ["bin/supervise", "run"])

    announce_line("a key is set, but no model is. next: supervise install openai")

    assert capsys.readouterr().err.endswith("next: bin/supervise install openai\n")


def test_a_quotation_in_an_answer_keeps_its_words_and_the_advice_beside_it_is_named():
    for language in PHRASES:
        text = f"> next: supervise runs\n\n{say(language, 'set_model')}"

        shown = name_command(text, "bin/supervise", is_answer=True)

        assert shown.startswith("> next: supervise runs\n")
        assert shown.endswith(": bin/supervise doctor)")


def test_advice_on_stdout_names_the_command_as_it_was_called_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "argv", ["venv/bin/supervise", "inbox"])

    print_text("  next: supervise resume ferry --answer TEXT")

    assert capsys.readouterr().out == "  next: venv/bin/supervise resume ferry --answer TEXT\n"


def test_a_task_planned_by_rule_is_shown_by_its_part_and_its_files():
    task = {
        "description": 'For the request "Add it up": computes on tables. Give sources.',
        "covers": ["Add it up"],
        "materials": ["sales.csv"],
    }

    assert describe_task(task) == "Add it up (sales.csv)"
    later = {**task, "depends_on": [{"task": "reader"}]}
    assert describe_task(later) == "Computes on tables (sales.csv)"
    assert describe_task({"description": "Find it."}) == "Find it."
