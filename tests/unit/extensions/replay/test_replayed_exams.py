"""Rows of an exam that have a record are graded without a model."""

import asyncio
import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from extensions.evals.evaluate import evaluate_team
from extensions.replay.case import make_case
from graph import arun
from graph.runs.runner import aresume
from graph.settings import Settings
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask, script_tasks
from tests.screen import run_supervise
from tests.trusted_files import list_user_folders
from tests.unit.extensions.replay.juice_team import change, read_rows, run_juice

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
OFFLINE = """
import sys
from graph.cli import main

sys.addaudithook(
    lambda event, args: event in ("socket.connect", "socket.getaddrinfo")
    and print("LEFT", event, args[1:], file=sys.stderr)
)
main()
"""


def test_rows_with_a_record_are_graded_without_a_model_a_key_or_a_socket(juice, case):
    key = {"LANGSMITH_API_KEY": "lsv2_pt_0123456789", "LANGSMITH_TRACING_V2": "true"}
    model = {"SUPERVISE_MODEL_STRONG": "openai:gpt-5"}

    ended = subprocess.run(
        [sys.executable, "-c", OFFLINE, "eval", str(juice), "--replayed", "--threshold", "100"],
        env={
            "PYTHONPATH": str(ROOT),
            "PATH": "/usr/bin:/bin",
            **list_user_folders(),
            **key,
            **model,
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    assert "LEFT" not in ended.stderr
    heading = "juice · 1 row replayed, without a model · 7 rows without a record"
    assert ended.stdout.splitlines()[0] == heading
    assert "score 100.0, threshold 100: reached" in ended.stdout
    assert not (Settings().home / "exams").exists()


def test_a_replayed_row_costs_nothing_and_a_wrong_answer_is_below_100(juice, case, supervise):
    row = read_rows(juice)[-1]
    row["expect"]["facts"] = ["18 months", "19 months"]
    (juice / "evals.jsonl").write_text(json.dumps(row))

    assert supervise("eval", str(juice), "--replayed", "-q") == 0
    table = supervise.out
    assert supervise("eval", str(juice), "--replayed", "-q", "--json") == 0

    assert "rows below 100\nkeeps  90.0  facts: not in the answer: 19 months" in table
    assert "cannot be replayed" not in table
    output = json.loads(supervise.out)
    assert (output["skipped"], output["spent"]["calls"]) == (0, 0)
    assert output["rows"][0]["status"] == "passages"


def test_a_changed_prompt_is_named_with_its_call_and_is_no_wrong_answer(juice, case, supervise):
    change(juice / "reader.md", "You look things up.", "You look things up, with care.")

    assert supervise("eval", str(juice), "--replayed") == 3

    missed = "model `turn` of juice, attempt 1 differs from the record in: message 1 (system)"
    assert f"keeps 0: not replayed: {missed}" in supervise.err.splitlines()
    heading = "rows that cannot be replayed, so they have no answer"
    assert supervise.out.partition(f"{heading}\n")[2].startswith(f"keeps  {missed}\n")
    assert "rows below 100" not in supervise.out
    (row,) = evaluate_team(juice, replayed=True).rows
    assert (row.score, row.complaints, row.scores) == (0.0, [f"not replayed: {missed}"], {})


@pytest.mark.parametrize(
    ("file", "old", "new", "call"),
    [
        ("calculator.md", "description: Computes", "description: Always computes", "`plan`"),
        ("team.md", "Lead with", "Begin with", "`answer`"),
        ("reader.md", "[search_documents]", "[]", "`plan`"),
        ("calculator.md", "You compute.", "You compute, always.", ""),
        ("reader.md", "tier: fast", "tier: fast\ntimeout_s: 60", ""),
    ],
)
def test_the_call_that_a_change_concerns_is_named_and_what_no_call_has_seen_is_no_difference(
    juice, case, file, old, new, call
):
    change(juice / file, old, new)

    (row,) = evaluate_team(juice, replayed=True).rows

    missed = f"model {call} differs from the record in: " if call else ""
    assert (row.result.missed or "").startswith(missed)
    assert (row.score, bool(row.result.missed)) == ((0.0, True) if call else (100.0, False))


def test_a_replaced_worker_is_compared_on_the_records(juice, case, supervise, tmp_path):
    new = tmp_path / "new" / "reader.md"
    new.parent.mkdir()
    shutil.copy(juice / "reader.md", new)
    change(new, "You look things up.", "You look.")

    assert supervise("eval", str(juice), "--replayed", "--worker", str(new), "-q") == 3

    assert "rows that differ\nkeeps  100.0  0.0  not replayed: model `turn`" in supervise.out


def test_without_replayed_a_row_has_the_materials_of_its_record(juice, case, supervise):
    assert supervise("eval", str(juice), "--only", "keeps", "--json", "-q") == 0

    output = json.loads(supervise.out)
    assert output["score"] == 100 and output["spent"]["calls"] == 5


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "cannot be read: it has no beginning"),
        (b"not a record", "cannot be read: it has no beginning"),
        (gzip.compress(b'{"segment": {}}\n', mtime=0), "it is of version None"),
        (None, "record is 'records/keeps.record', which does not exist in teams/juice"),
    ],
)
def test_check_names_the_row_whose_record_cannot_be_read(juice, case, supervise, data, problem):
    case.unlink()
    if data is not None:
        case.write_bytes(data)

    assert supervise("check", str(juice)) == 2

    assert supervise.out.startswith("teams/juice/evals.jsonl:8: ") and problem in supervise.out


def test_an_unreadable_record_fails_its_row_alone(juice, case, supervise):
    run_juice(juice, "other")
    assert supervise("case", "other") == 0
    case.write_bytes(b"")

    replayed = evaluate_team(juice, replayed=True)
    lived = evaluate_team(juice, only=["keeps", "other"])

    assert [row.score for row in replayed.rows] == [row.score for row in lived.rows] == [0, 100]
    assert "cannot be read" in replayed.rows[0].complaints[0]
    assert lived.rows[0].result.error and "cannot be read" in str(lived.rows[0].result.error)


def test_a_replay_is_compared_with_no_other_model_and_needs_a_record(juice, case, supervise):
    assert supervise("eval", str(juice), "--replayed", "--against", "fast=embedded") == 2
    assert "--replayed asks no model, without --against" in supervise.err

    assert supervise("eval", str(juice), "--replayed", "--only", "share") == 2
    assert "none of these rows has a record" in supervise.err


def test_a_criterion_is_left_out_of_a_replay(juice, case):
    row = read_rows(juice)[-1]
    row["expect"]["judged"] = "It is polite."
    (juice / "evals.jsonl").write_text(json.dumps(row))

    evaluation = evaluate_team(juice, replayed=True)

    assert evaluation.score == 100 and evaluation.left_out == {"judged": "a replay asks no model"}


async def test_a_failure_of_yesterday_is_a_test_tomorrow(
    juice, endpoint: Endpoint, settings: Settings, capsys
):
    failed = ScriptedTask(id="a", worker="reader", report={"status": "failed", "output": "none"})
    endpoint.load_scenario(
        Scenario(tasks=(failed,), faults=(Fault(kind="server_error", schema="Report", nth=(1,)),))
    )
    outcome = await arun("Find the origin.", team=juice, thread="night", settings=settings)
    asked = len(endpoint.requests)

    assert await asyncio.to_thread(make_case, "night", settings) == 0
    assert await asyncio.to_thread(make_case, "night", settings, name="better", status="done") == 0
    assert await asyncio.to_thread(run_supervise, "eval", str(juice), "--replayed") == 3
    shown = capsys.readouterr().out

    assert outcome.status == "failed" and len(endpoint.requests) == asked
    assert read_rows(juice)[-2]["expect"] == {"workers": ["reader"], "status": "failed"}
    assert "rows below 100\nbetter  50.0  completed: ended failed\n" in shown


async def test_an_error_and_a_question_are_endings_that_are_replayed(
    juice, endpoint: Endpoint, settings: Settings
):
    endpoint.load_scenario(Scenario(tasks=script_tasks({"a": ()}, worker="reader")))
    asks = {"approve_plan": True}
    await arun("Find it.", team=juice, thread="asks", context=asks, settings=settings)
    await asyncio.to_thread(make_case, "asks", settings)
    await aresume("asks", answer="approve", settings=settings)
    await asyncio.to_thread(make_case, "asks", settings, name="answered")
    refused = Fault(kind="unauthorized", schema="Plan")
    endpoint.load_scenario(Scenario(tasks=script_tasks({"a": ()}), faults=(refused,)))
    await arun("Find it.", team=juice, thread="refused", settings=settings)
    await asyncio.to_thread(make_case, "refused", settings)

    rows = (await asyncio.to_thread(evaluate_team, juice, replayed=True)).rows

    assert [row.row.expect.status for row in rows] == ["needs_input", "done", "failed"]
    assert [row.score for row in rows] == [100, 100, 100]


async def test_a_run_that_asks_less_than_its_record_is_graded(
    juice, endpoint: Endpoint, settings: Settings
):
    change(juice / "team.md", "synthesis:", "critic: on\nsynthesis:")
    endpoint.load_scenario(Scenario(tasks=script_tasks({"a": (), "b": ()}, worker="reader")))
    await arun("Find it.", team=juice, thread="reviewed", settings=settings)
    await asyncio.to_thread(make_case, "reviewed", settings)
    change(juice / "team.md", "critic: on\n", "")

    (row,) = (await asyncio.to_thread(evaluate_team, juice, replayed=True)).rows

    asked = [call.schema for call in endpoint.requests]
    assert asked[-1] not in ("Plan", "Report", "Answer")
    assert (row.score, row.result.missed, row.result.status) == (100, "", "done")
