"""How text, tables and the tasks of a run are fitted to a terminal."""

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, RenderableType
from rich.measure import Measurement

from graph.display.progress_display import ProgressTable
from graph.display.progress_lines import format_event
from graph.display.tables import AnswerMarkdown, divide_width
from graph.display.text import separate_advice, to_one_line, wrap_lines
from graph.runs.run_view import RunView

WORDS = st.lists(st.text("abcdefgh-.", min_size=1, max_size=30), min_size=1).map(" ".join)
SHORT_WORDS = st.lists(st.text("abc-.", min_size=1, max_size=15), min_size=1).map(" ".join)
TABLE = """
| company | cap_2023_billion_usd | growth_percent |
| --- | --- | --- |
| Microsoft | 2794.7 | 12.1 |
"""


def draw(shown: RenderableType, width: int, height: int = 24) -> str:
    page = StringIO()
    Console(file=page, width=width, height=height).print(shown)
    return page.getvalue()


@pytest.fixture
def board() -> RunView:
    """Thirty tasks, of which twelve are done and two are under way."""
    tasks = [
        {
            "id": f"part_{n}",
            "worker": "counter",
            "description": f"Count the parts in hall {n} of Rotterdam.",
            "depends_on": [f"part_{n - 3}"] if n > 3 else [],
        }
        for n in range(1, 31)
    ]
    board = RunView()
    board.apply_event({"kind": "request", "t": 0.5, "team": "fruit", "models": ["embedded"]})
    board.apply_event({"kind": "plan_created", "t": 1.0, "plan": {"goal": "g", "tasks": tasks}})
    for n in range(1, 13):
        report = {"status": "completed", "started_s": 1.0, "ended_s": 2.5}
        board.apply_event({"kind": "report", "t": 2.5, "task": f"part_{n}", "report": report})
    for n in (13, 14):
        board.apply_event({"kind": "task_started", "t": 2.5, "task": f"part_{n}"})
    return board


@pytest.mark.parametrize("width", [40, 80, 120])
def test_many_tasks_fit_the_screen_with_the_count_of_what_is_done(
    board: RunView, width: int
) -> None:
    lines = draw(ProgressTable(board), width).splitlines()

    assert "working · 12 of 30 done" in lines[0]
    assert len(lines) <= 24 and all(len(line) <= width for line in lines)
    assert any("part_13" in line and "working" in line for line in lines)
    assert lines[-1] == "… 9 more tasks: 9 done"


def test_the_words_of_a_task_are_cut_between_two_of_them(board: RunView) -> None:
    allowed = {
        word
        for row in board.list_tasks()
        for word in (*row.waits_for, *row.planned["description"].split())
    }

    for width in range(60, 100):
        lines = [line.rstrip() for line in draw(ProgressTable(board), width).splitlines()[1:-1]]
        cut = {line[:-1].rpartition(" ")[2] for line in lines if line.endswith("…")}
        assert cut <= allowed | {"·"}


def test_at_the_end_all_tasks_are_shown(board: RunView) -> None:
    answer = {"kind": "answer", "t": 9.0, "status": "partial", "timing": {"wall_s": 8.25}}
    board.apply_event(answer)

    lines = draw(ProgressTable(board, is_final=True), 80).splitlines()

    assert lines[0].startswith("partial · 12 of 30 done · 8.25 s")
    assert len(lines) == 31


def test_a_task_takes_the_time_that_its_report_says(board: RunView) -> None:
    shown = draw(ProgressTable(board, is_final=True), 80)

    assert "1.50 s" in next(line for line in shown.splitlines() if line.startswith("part_12 "))


def test_a_runs_time_stands_still_between_a_kill_and_its_resume() -> None:
    board = RunView()
    for event in ({"kind": "request", "t": 3.0}, {"kind": "dispatched", "t": 7.0}):
        board.apply_event(event)

    seconds = board.read_seconds()

    assert seconds is not None and 4.0 <= seconds < 60.0


def test_a_task_that_is_called_like_its_worker_is_named_once(board: RunView) -> None:
    started = {"kind": "task_started", "task": "researcher", "worker": "researcher"}
    assert format_event(board, started) == "researcher working"

    inner = {"kind": "task_started", "task": "a/researcher", "worker": "researcher"}
    assert format_event(board, inner) == "a/researcher working"


@given(WORDS, st.integers(20, 100), st.integers(0, 6))
def test_folding_keeps_every_word_whole_and_in_order(text: str, width: int, indent: int) -> None:
    lines = wrap_lines(" " * indent + text, width).split("\n")

    assert " ".join(lines).split() == text.split()
    assert all(len(line) <= width or len(line.split()) == 1 for line in lines)


def test_a_command_to_copy_is_not_broken_where_its_line_is_too_long() -> None:
    line = "stopped. kept: tasks collect, compare, write. next: supervise resume 9e942f894aed"

    assert separate_advice(line, 80) == line.replace(" next:", "\nnext:")
    assert separate_advice(line, 200) == line


@given(SHORT_WORDS, st.integers(40, 100))
def test_one_line_ends_with_a_whole_word(text: str, width: int) -> None:
    line = to_one_line(text, width)

    assert len(line) <= width
    assert set(line.removesuffix("…").split()) <= set(text.split())


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 200)), min_size=1), st.integers(1, 400)
)
def test_columns_share_the_room_and_none_is_narrower_than_its_longest_word(
    sizes: list[tuple[int, int]], room: int
) -> None:
    measured = [Measurement(least, least + more) for least, more in sizes]

    widths = divide_width(measured, room)

    if widths is None:
        assert sum(least for least, _ in sizes) > room
    else:
        assert sum(widths) <= room
        assert all(w >= size.minimum for w, size in zip(widths, measured, strict=True))


def test_a_table_of_an_answer_becomes_lines_where_its_columns_do_not_fit() -> None:
    beside, below = draw(AnswerMarkdown(TABLE), 80), draw(AnswerMarkdown(TABLE), 40)

    assert any("company" in line and "growth_percent" in line for line in beside.splitlines())
    assert [line.strip() for line in below.splitlines() if line.strip()] == [
        "• company: Microsoft",
        "cap_2023_billion_usd: 2794.7",
        "growth_percent: 12.1",
    ]
