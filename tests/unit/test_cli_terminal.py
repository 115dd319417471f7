"""What commands write to a terminal: it fits, and no word of it is broken."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from string import ascii_lowercase

import pytest

if sys.platform == "win32":
    pytest.skip("terminals are those of Unix", allow_module_level=True)

from tests.endpoint import Endpoint, Scenario, script_tasks
from tests.pseudo_terminal import run_in_terminal, strip_control_sequences
from tests.trusted_files import list_user_folders

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
REQUEST = "What is the total of cap_2024 by company?"
CSV = "company,cap_2023,cap_2024\nNorth,100,150\nSouth,200,220\n"
RUN = ("run", REQUEST, "--file", "caps.csv")


@pytest.fixture(autouse=True)
def table() -> None:
    Path("caps.csv").write_text(CSV)


def run_piped(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "graph.cli", *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT), "LANGSMITH_TRACING": "false", **list_user_folders()},
    )
    return done.stdout + done.stderr


@cache
def run_listing_piped(folder: Path, *command: str) -> str:
    """Return a listing, which is the same for each width but names its folder."""
    return run_piped(*command)


def assert_fits(text: str, whole: str, columns: int) -> None:
    """Raise when a line is too long for its words, or ends or begins within one."""
    words = set(whole.split())
    for line in strip_control_sequences(text).splitlines():
        assert len(line) <= columns or len(line.split()) == 1
        assert set(line.split()) <= words | {"workers:"}


@pytest.mark.parametrize("columns", [40])
@pytest.mark.parametrize("command", [("teams",), ("teams", "market_analysis"), ("doctor",)])
def test_no_word_of_a_listing_is_broken(command: tuple[str, ...], columns: int) -> None:
    output = run_in_terminal(*command, columns=columns)

    assert_fits(output, run_listing_piped(Path.cwd(), *command), columns)
    assert output


@pytest.mark.parametrize("columns", [40])
def test_a_run_its_figures_and_the_list_of_runs_fit_a_terminal(columns: int) -> None:
    output = strip_control_sequences(run_in_terminal(*RUN, "--thread", "t1", columns=columns))
    shown = run_piped("show", "t1", "--profile")

    figures = output[output.index("thread t1") :]
    assert_fits(figures[: figures.index("more:")], shown, columns)
    (took,) = [line for line in shown.splitlines() if line.startswith("thread t1 · done in ")]
    seconds = took.split(" in ")[1].split(";")[0]
    # One time for a run: in place, in the figures, in the list of runs.
    assert f"· {seconds}" in output and f"done in {seconds}" in " ".join(figures.split())
    listed = strip_control_sequences(run_in_terminal("runs", columns=columns))
    assert seconds in listed and "t1" in listed
    assert all(len(line) <= columns for line in listed.splitlines())


def test_a_run_of_a_team_with_a_long_name_is_a_row_of_80_columns() -> None:
    log = Path(".supervise/traces/0123456789ab.jsonl")
    log.parent.mkdir(parents=True)
    run = {"team": "a_team_with_a_very_long_name", "status": "passages"}
    log.write_text(json.dumps({"run": {**run, "started": "2026-11-24T00:30:05+00:00"}}) + "\n")

    listed = strip_control_sequences(run_in_terminal("runs", columns=80)).splitlines()

    (row,) = [line for line in listed if line.startswith("0123456789ab")]
    assert "a_team_…ng_name" in row and "2026-11-24" in row
    assert max(map(len, listed)) <= 80


def test_a_table_of_a_worker_is_rendered_on_a_terminal_and_unchanged_elsewhere() -> None:
    run_piped(*RUN, "--thread", "t1", "-q")

    shown = strip_control_sequences(run_in_terminal("show", "t1", "--profile", columns=80))

    assert "|" not in shown and "  company  sum of cap 2024" in shown
    assert "  | company | sum of cap 2024" in run_piped("show", "t1", "--profile")


@pytest.mark.parametrize("no_color", ["1", ""])
def test_without_colour_the_table_stays(no_color: str) -> None:
    output = run_in_terminal(*RUN, columns=100, NO_COLOR=no_color)

    assert "starting team market_analysis" in output
    assert "of 1 done" in strip_control_sequences(output) or "of 2 done" in strip_control_sequences(
        output
    )
    assert "\x1b[1A" in output or "\x1b[2K" in output
    assert ("\x1b[32m" in output or "\x1b[36m" in output) == (not no_color)


@pytest.mark.parametrize(
    ("options", "stream", "is_previewed"),
    [((), "", True), (("--json",), "", False), ((), "false", False)],
)
def test_an_answer_is_shown_while_a_model_writes_it(
    options: tuple[str, ...], stream: str, is_previewed: bool
) -> None:
    text = " ".join(f"The figures of part {letter * 3} are named." for letter in ascii_lowercase)
    scenario = Scenario(
        tasks=script_tasks({"a": ()}),
        answers={"Answer": {"text": text, "confidence": 90}},
        chunk_delay_s=0.02,
    )
    with Endpoint(scenario).run_in_thread() as endpoint:
        output = run_in_terminal(
            *RUN,
            *options,
            columns=100,
            OPENAI_BASE_URL=endpoint.base_url,
            OPENAI_API_KEY="sk-x",
            SUPERVISE_STREAM=stream,
        )

    shown = strip_control_sequences(output)
    assert (
        "zzz" in shown
        and shown.count("what is read and written is kept (off: SUPERVISE_RECORD=false)") == 1
    )
    assert (shown.count("ddd") > 1) == is_previewed


def test_what_cannot_begin_leaves_its_first_line_and_the_error() -> None:
    Path("empty").mkdir()

    output = strip_control_sequences(run_in_terminal("run", "x", "--team", "empty", columns=400))

    first, error = output.strip().split("\n")
    assert first == "starting team empty ..."
    assert error.startswith("error[TEAM_INVALID]")
