"""What the commands on past runs say to do next."""

import io
import json
import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from graph.display.labels import format_time
from tests.unit.test_cli import CSV, REQUEST, ROOT

pytestmark = pytest.mark.slow


@pytest.fixture
def table() -> str:
    Path("caps.csv").write_text(CSV)
    return "caps.csv"


def test_a_resume_of_a_run_that_is_done_says_so(supervise, table):
    supervise("run", REQUEST, "--file", table, "--thread", "t1", "-q")

    assert supervise("resume", "t1") == 0

    assert supervise.err.startswith("resuming thread t1 ...")
    assert supervise.err.splitlines()[-1].startswith("the run was done before")
    assert "next: supervise run REQUEST --thread t1" in supervise.err


def test_a_run_on_the_last_thread_follows_up_on_the_newest_run(supervise, table):
    supervise("run", REQUEST, "--file", table, "--thread", "t1", "-q")

    assert supervise("run", REQUEST, "--thread", "last", "-q") == 0

    assert supervise("runs") == 0 and supervise.out.count("market_analysis") == 1


def test_a_run_that_was_killed_is_listed_with_what_to_do_next(supervise, table):
    supervise("run", REQUEST, "--file", table, "--thread", "t1", "-q")
    supervise("runs")
    assert "next:" not in supervise.err
    trace = Path(".supervise/traces/t1.jsonl")
    trace.write_text("\n".join(trace.read_text().splitlines()[:6]) + "\n")

    assert supervise("runs") == 0

    assert "running" in supervise.out
    assert "t1. next: supervise resume THREAD" in supervise.err


def test_a_trace_that_cannot_be_written_is_an_error(supervise, table):
    supervise("run", REQUEST, "--file", table, "--thread", "t1", "-q")

    assert supervise("trace", "t1", "--out", "missing/folder.json") == 2

    assert supervise.err.startswith(
        "error[OUTPUT_FAILED] cannot write missing/folder.json: No such"
    )
    assert supervise.err.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "path", "words"),
    [
        ("--report", "missing/run.html", "cannot write missing/run.html: there is no folder"),
        ("--trace", "missing/run.json", "cannot write missing/run.json: there is no folder"),
        ("--report", ".", "cannot write .: it is a folder"),
        ("--report", "run.pdf", "--report writes HTML, and run.pdf ends with .pdf"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_run(
    supervise, table, option, path, words
):
    assert supervise("run", REQUEST, "--file", table, option, path) == 2

    assert words in supervise.err
    assert supervise("runs") == 0
    assert "no run" in (supervise.out + supervise.err).lower()


def test_a_run_without_a_file_to_read_is_advised_to_name_one(supervise):
    assert supervise("run", "Compare the prices in the file", "--thread", "t1", "-q") == 3

    assert supervise.err == "next: supervise run … --file PATH\n"
    supervise("show", "t1")
    assert supervise.err.endswith("next: supervise run … --file PATH\n")
    assert "resume" not in supervise.err


def test_times_of_runs_are_in_the_zone_of_the_terminal_with_its_offset(supervise, monkeypatch):
    log = Path(".supervise/traces/t1.jsonl")
    log.parent.mkdir(parents=True)
    log.write_text('{"run": {"thread": "t1", "started": "2026-11-23T23:30:05.123+00:00"}}\n')
    monkeypatch.setenv("TZ", "Europe/Vienna")
    time.tzset()
    try:
        assert supervise("runs") == 0
    finally:
        monkeypatch.undo()
        time.tzset()

    assert "2026-11-24 00:30:05+01:00" in supervise.out


@pytest.mark.parametrize("written", ["", "yesterday", "0001-01-01T00:00:00+14:00"])
def test_a_time_that_cannot_be_read_is_left_out(written):
    assert format_time(written) == ""


def test_a_team_in_a_folder_below_is_suggested_by_its_folder(supervise):
    supervise("new-team", "kitchen", "--into", "my_teams")

    assert supervise("run", "Cook.", "-t", "kitchen", "-q") == 2

    assert supervise.err.endswith("'kitchen'. next: name its folder: my_teams/kitchen\n")


def test_an_unknown_command_is_answered_with_those_that_do_what_its_word_says(supervise):
    assert supervise("list") == 2

    assert "No such command 'list'. Did you mean 'runs'" in supervise.err


@pytest.mark.parametrize("files", [("--file", "missing.md"), ("missing.md",)])
def test_a_file_that_is_missing_is_the_only_line_and_no_team_is_started(supervise, files):
    assert supervise("run", "What is it?", *files) == 2

    assert supervise.err.startswith("error[") and supervise.err.count("\n") == 1


@pytest.mark.parametrize("command", [("run", "Cook."), ("eval",)])
def test_a_team_that_is_unknown_is_the_only_line_and_is_not_said_to_start(supervise, command):
    team = ("-t", "cook") if command[0] == "run" else ("cook",)

    assert supervise(*command, *team) == 2

    assert supervise.err.startswith("error[TEAM_INVALID] unknown team 'cook'")
    assert supervise.err.count("\n") == 1


def test_runs_are_listed_by_their_start_and_not_by_their_last_event(supervise):
    logs = Path(".supervise/traces")
    logs.mkdir(parents=True)
    for thread, day in (("newest", 3), ("oldest", 1), ("middle", 2)):
        run = f'{{"thread": "{thread}", "started": "2026-11-0{day}T10:00:00+00:00"}}'
        (logs / f"{thread}.jsonl").write_text(f'{{"run": {run}}}\n')

    assert supervise("runs") == 0

    rows = supervise.out.splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["newest", "middle", "oldest"]


def test_the_list_of_runs_is_narrowed_by_status_age_and_number_without_removing_any(supervise):
    logs = Path(".supervise/traces")
    logs.mkdir(parents=True)
    for day, (thread, status) in enumerate((("old", "done"), ("mid", "failed"), ("new", "failed"))):
        run = {"thread": thread, "started": f"2026-11-0{day + 1}T10:00:00+00:00"}
        head = {"t": 0.0, "task": "", "worker": ""}
        asked = {**head, "kind": "request", "request": "x"}
        end: dict[str, Any] = {"answer": {}, "usage": {}, "timing": {}, "status": status}
        answer = {**head, **end, "kind": "answer"}
        path = logs / f"{thread}.jsonl"
        lines = [json.dumps(each) for each in ({"run": run}, asked, answer)]
        path.write_text("\n".join(lines))
        os.utime(path, (0, time.time() - (9 - 4 * day) * 86_400))

    for options, listed in (
        (("--status", "failed"), ["new", "mid"]),
        (("--status", "failed", "--keep", "1"), ["new"]),
        (("--older-than", "3d"), ["mid", "old"]),
        (("--older-than", "30d"), []),
    ):
        assert supervise("runs", *options) == 0
        assert [row.split()[0] for row in supervise.out.splitlines()[1:]] == listed
    assert "none of 3 runs" in supervise.err
    assert supervise("runs", "--status", "bogus") == 2 and "choose one of" in supervise.err
    assert len(list(logs.iterdir())) == 3


def test_a_run_that_waits_says_how_it_is_left_without_an_answer(supervise, table, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    supervise("run", REQUEST, "--file", table, "--approve", "--thread", "plan")
    assert "without an answer nothing is run\n" in supervise.err

    supervise("run", "Compute the churn of Krems", "--file", table, "--ask", "--thread", "asks")
    assert "without an answer: supervise stop asks; supervise resume asks\n" in supervise.err
    supervise("show", "asks")
    assert "without an answer: supervise stop asks; supervise resume asks\n" in supervise.err

    assert supervise("stop", "asks") == 0
    assert supervise("resume", "asks") != 7


def test_a_summary_without_a_model_is_said_to_need_one(supervise, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["bin/supervise", "run"])
    Path("text.md").write_text("Apples are red and round. Many people eat them.\n")

    supervise("run", "sum up", "--file", "text.md", "-q")

    assert "such as a summary, needs a language model" in supervise.out
    assert "(on the command line: bin/supervise doctor)" in supervise.out


@pytest.mark.needs("teams")
def test_the_first_command_of_the_readme_prints_what_the_readme_shows(supervise):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = shlex.split(readme.partition("bin/supervise ")[2].partition("\n")[0])
    shown = readme.partition("```text\n")[2].partition("```")[0]

    assert supervise(*command[:-1], str(ROOT / command[-1])) == 0

    assert supervise.out == shown
