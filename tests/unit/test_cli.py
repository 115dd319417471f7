"""`supervise`, as a person or a script calls it."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from graph import __version__
from graph.commands.process import run_to_exit_code

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
REQUEST = "What is the total of cap_2024 by company?"
CSV = "company,cap_2023,cap_2024\nNorth,100,150\nSouth,200,220\n"


@pytest.fixture
def table() -> str:
    Path("caps.csv").write_text(CSV)
    return "caps.csv"


def test_help_does_not_load_langgraph():
    code = "import sys, graph.cli; sys.exit('langgraph' in sys.modules or 'openai' in sys.modules)"

    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)

    assert ended.returncode == 0


def test_help_lists_the_commands_and_names_values_and_no_types(supervise):
    assert supervise("--help") == 0
    for command in ("show", "teams", "check", "draw", "doctor"):
        assert command in supervise.out
    for command in ("run", "resume", "runs", "trace", "eval", "new-team"):
        assert command in supervise.out
        assert (supervise(command, "--help"), supervise("--help")) == (0, 0)
    assert supervise("run", "--help") == 0 and "-f, --file PATH" in supervise.out
    assert not re.search(r"<(list|bool|float|int|path)", supervise.out)


def test_the_version_is_that_of_the_package(supervise):
    assert supervise("--version") == 0

    what = " (the files of a checkout, no released version)"
    assert supervise.out == f"supervise {__version__}{what}\n"


def test_the_start_is_announced_before_libraries_load():
    blocked = "import sys; sys.modules['langgraph'] = None; from graph.cli import main; main()"

    ended = subprocess.run(
        [sys.executable, "-c", blocked, "run", "x"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        text=True,
    )

    first, second = ended.stderr.splitlines()
    assert first == "starting team market_analysis ..."
    assert "langgraph" in second


def test_a_run_answers_on_stdout_and_tells_progress_and_a_last_line_on_stderr(supervise, table):
    assert supervise("run", REQUEST, "--file", table, "--thread", "t1", "--verbose") == 0

    assert "North" in supervise.out
    assert "**Confidence:**" not in supervise.out
    assert "embedded (no language model: quotes and computes)" in supervise.err
    assert "analyst working" in supervise.err
    assert "slowest chain" in supervise.err
    assert supervise("run", REQUEST, "--file", table, "--thread", "t2") == 0
    ends = supervise.err.splitlines()[-3:]
    assert re.fullmatch(r"thread t2 · done in [\d.]+ \w+ · \$0", ends[0])
    assert ends[1] == "more: supervise show t2 --profile"
    assert ends[2] == "what to set so that a language model answers: supervise doctor"


def test_the_first_line_of_a_run_says_that_its_record_is_kept(supervise, table, monkeypatch):
    words, said = (
        ("run", REQUEST, "--file", table),
        "what is read and written is kept (off: SUPERVISE_RECORD=false)",
    )

    assert supervise(*words, "--thread", "t1") == 0
    assert said in supervise.err.splitlines()[1] and Path(".supervise/traces/t1.record").exists()
    assert supervise(*words, "--plan-only") == 0 and said not in supervise.err
    monkeypatch.setenv("SUPERVISE_RECORD", "false")
    assert supervise(*words, "--thread", "t2") == 0
    assert said not in supervise.err and not Path(".supervise/traces/t2.record").exists()


def test_json_is_one_object_and_nothing_else(supervise, table):
    assert supervise("run", REQUEST, "--file", table, "--json", "--quiet") == 0

    outcome = json.loads(supervise.out)
    assert supervise.err == ""
    assert outcome["status"] == "done"
    assert set(outcome) == {
        *("thread", "status", "answer", "plan", "results", "timing", "usage", "error")
    }


def test_a_run_whose_workers_say_what_they_lack_is_partial_though_nothing_was_found(supervise):
    Path("memo.md").write_text("# Bells\n\nThe guarantee is ten years.\n")
    assert supervise("run", "How many apprentices work there?", "--file", "memo.md", "--json") == 3

    outcome = json.loads(supervise.out)
    assert outcome["status"] == "partial"
    assert outcome["answer"]["text"].startswith("Nothing could be found out.")


def test_a_past_run_can_be_listed_shown_traced_and_resumed(supervise, table):
    supervise("run", REQUEST, "--file", table, "--thread", "t1", "--trace", "kept.json", "-q")
    answer = supervise.out

    assert supervise("runs") == 0
    assert "t1" in supervise.out
    assert supervise("show", "t1") == 0
    assert supervise.out == answer
    assert "how it was made: supervise show t1 --profile" in supervise.err
    assert supervise("show", "t1", "--profile") == 0
    assert supervise.out.startswith(answer)
    assert "[done]" in supervise.out.removeprefix(answer)
    assert supervise("trace", "t1") == 0
    assert json.loads(supervise.out) == json.loads(Path("kept.json").read_text())
    assert supervise("trace", "t1", "--format", "html", "--out", "run.html") == 0
    assert REQUEST in Path("run.html").read_text(encoding="utf-8")
    assert supervise("resume", "t1", "-q", "--report", "resumed.html") == 0
    assert supervise.out == answer
    assert REQUEST in Path("resumed.html").read_text(encoding="utf-8")


def test_a_run_writes_its_report(supervise, table):
    assert supervise("run", REQUEST, "--file", table, "--report", "run.html", "-q") == 0
    assert "run.html" not in supervise.err
    page = Path("run.html").read_text(encoding="utf-8")
    assert '"kind":"answer"' in page
    assert supervise("run", REQUEST, "--file", table, "--plan-only", "--report", "p.html") == 0
    assert '"status":"waiting"' in Path("p.html").read_text(encoding="utf-8")


def test_each_command_that_writes_a_file_says_what_is_in_it(supervise, table):
    asked = ("run", REQUEST, "--file", table, "--thread", "t1")
    assert supervise(*asked, "--report", "run.html", "--trace", "run.json") == 0
    assert "the report is in run.html\n" in supervise.err
    assert "the trace is in run.json\n" in supervise.err

    for what, *command in (
        ("answer", "show", "t1", "--out", "answer.md"),
        ("trace", "trace", "t1", "--out", "trace.json"),
        ("report", "trace", "t1", "--format", "html", "--out", "trace.html"),
        ("drawing", "draw", "t1", "--out", "plan.mmd"),
    ):
        assert supervise(*command) == 0
        assert (supervise.out, supervise.err) == ("", f"the {what} is in {command[-1]}\n")
        assert Path(command[-1]).stat().st_size


def test_a_run_that_waits_is_listed_and_shown_with_its_question(supervise, table, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert supervise("run", REQUEST, "--file", table, "--approve", "--thread", "w1") == 7
    asked = supervise.err.splitlines()[-2:]
    assert len(re.findall("^plan:", supervise.err, re.MULTILINE)) == 1

    assert supervise("runs") == 0
    assert "needs_input" in supervise.out
    assert supervise("show", "w1") == 0
    assert supervise.err.splitlines()[-2:] == asked
    assert asked[-1] == "next: supervise resume w1 --answer accept"
    assert "$0" in supervise.err and "cost unknown" not in supervise.err
    assert supervise("resume", "w1", "--answer", "accept") == 0
    assert "working" in supervise.err
    assert supervise("show", "w1") == 0
    assert "next:" not in supervise.err


def test_a_request_is_read_from_stdin_with_undecodable_bytes_replaced(
    supervise, table, monkeypatch
):
    raw = b"\xef\xbb\xbf" + REQUEST.encode() + b" \xff\0\r\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))

    assert supervise("run", "-", "--file", table, "--json", "-q") == 0

    assert json.loads(supervise.out)["plan"]["goal"].startswith(REQUEST)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "Missing argument"),
        (["run", ""], "error[REQUEST_INVALID] empty request"),
        (["run", " \n"], "error[REQUEST_INVALID] empty request"),
        (["run", "x" * 100_001], "100,001 bytes of at most 100,000"),
        (["run", "x", "--tem", "y"], "--team"),
        (["run", "x", "--team", "market_analisys"], "did you mean 'market_analysis'"),
        (["run", "x", "--file", "missing.md"], "cannot read missing.md"),
        (["run", "x", "--thread", "../up"], "thread id"),
        (["run", "x", "--deadline", "-1"], "--deadline"),
        (["run", "x", "--deadline", "nan"], "--deadline"),
        (["run", "x", "--deadline", "inf"], "--deadline"),
        (["run", "x", "--max-cost", "-0.01"], "--max-cost"),
        (["run", "x", "--max-cost", "nan"], "--max-cost"),
        (["resume", "x", "--max-cost", "inf"], "--max-cost"),
        (["resume", "x", "--max-cost", "0.5 USD"], "--max-cost"),
        (["run", "x", "--deadline", "soon"], "a valid number. next: supervise run --help"),
        (["run", "x", "--file"], "requires an argument. next: supervise run --help"),
        (["run", "x", "-f", "https://a.com/b.md"], "https://a.com/b.md: it is a web page"),
        (["run", "-", "-f", "-"], "cannot both be read from stdin"),
        (["rnu"], "run"),
        (["resume", "unknown"], "no thread 'unknown'"),
        (["show", "../up"], "thread id"),
        (["trace", "x", "--format", "svg"], "no trace format 'svg'"),
        (["teams", "unknown"], "unknown team"),
    ],
)
def test_a_misuse_is_one_line_and_exit_code_2(supervise, arguments, message):
    assert supervise(*arguments) == 2

    *before, error = supervise.err.splitlines()
    assert supervise.out == ""
    assert error.startswith("error[")
    assert message in error
    assert all(line.startswith(("starting team ", "resuming thread ")) for line in before)


def test_json_is_printed_also_when_the_run_cannot_begin(supervise):
    assert supervise("run", "x", "--team", "unknown", "--json") == 2

    outcome = json.loads(supervise.out)
    assert outcome["status"] == "failed"
    assert outcome["error"]["code"] == "TEAM_INVALID"


def test_a_request_may_look_like_an_option_after_two_dashes(supervise, table):
    assert supervise("run", "--file", table, "--plan-only", "--json", "-q", "--", "--help me") == 0

    assert "--help me" in json.loads(supervise.out)["goal"]


def test_settings_that_cannot_be_are_refused_without_their_secret(supervise, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden\nsk-hidden")

    assert supervise("doctor") == 2

    assert supervise.err.startswith("error[SETTINGS_INVALID] OPENAI_API_KEY")
    assert "hidden" not in supervise.err


def test_teams_are_listed_and_introduced(supervise):
    assert supervise("teams") == 0
    assert "market_analysis" in supervise.out
    assert supervise("teams", "market_analysis") == 0
    assert "query_database" in supervise.out
    assert supervise("teams", "--json") == 0
    assert json.loads(supervise.out)[0]["workers"]


def test_the_plan_can_be_seen_before_anything_runs_and_has_a_trace_too(supervise, table):
    assert supervise("run", REQUEST, "--file", table, "--plan-only", "--trace", "t.json") == 0

    trace = json.loads(Path("t.json").read_text())
    assert [plan["tasks"] for plan in trace["plans"]] == [json.loads(supervise.out)["tasks"]]
    assert {event["kind"] for event in trace["events"]} >= {"request", "plan_created"}
    assert trace["tasks"][0]["status"] == "waiting"
    assert supervise("runs") == 0
    assert supervise.out == ""


def test_caps_and_choices_of_a_run_are_options(supervise, table):
    options = ("--max-steps", "0", "--sequential", "--critic", "off", "--strategy", "plan")

    assert supervise("run", REQUEST, "--file", table, "--json", *options) == 3

    outcome = json.loads(supervise.out)
    assert "was not run before the run's caps" in " ".join(outcome["answer"]["gaps"])


@pytest.mark.parametrize(
    "options",
    [("--strategy", "guess"), ("--critic", "maybe"), ("--max-tasks", "0"), ("--max-steps", "x")],
)
def test_an_option_with_a_value_that_is_none_is_one_line(supervise, options):
    assert supervise("run", "Count.", *options) == 2

    assert options[0] in supervise.err and supervise.err.count("\n") == 1
    assert "next: supervise run --help" in supervise.err


@pytest.mark.parametrize("option", ["--sequential", "--approve", "--plan-only", "--thread"])
def test_a_comparison_refuses_what_leaves_nothing_to_compare(supervise, option):
    value = ("one",) if option == "--thread" else ()

    assert supervise("run", "Count.", "--compare-sequential", option, *value) == 2

    assert f"without {option}" in supervise.err and supervise.err.count("\n") == 1


def test_doctor_names_a_misspelt_setting(supervise, monkeypatch):
    monkeypatch.setenv("SUPERVISE_MODLE_FAST", "embedded")

    assert supervise("doctor") == 0

    result = " ".join(supervise.out.split())
    assert "SUPERVISE_MODLE_FAST is not a setting" in result
    assert "did you mean SUPERVISE_MODEL_FAST?" in result


def test_doctor_names_what_is_missing_and_how_to_fix_it(supervise):
    assert supervise("doctor") == 0

    assert "embedded (no language model: quotes and computes)" in supervise.out
    assert "fix: set OPENAI_API_KEY" in supervise.out
    assert "off: run data leaves this machine only in requests" in supervise.out


def test_an_internal_error_is_one_line_and_its_traceback_a_file_without_secrets(
    capsys, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden")

    def fail() -> None:
        raise ZeroDivisionError("of sk-hidden\nby nothing")

    assert run_to_exit_code(fail) == 1

    (kept,) = Path(".supervise/errors").iterdir()
    output = capsys.readouterr().err
    assert output.startswith("error[UNEXPECTED] ZeroDivisionError: of [secret] by nothing")
    assert output.count("\n") == 1
    assert "Traceback" in kept.read_text()
    assert "sk-hidden" not in kept.read_text()
