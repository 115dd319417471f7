"""`supervise eval`: a team's exam, from the command line and from Python."""

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from extensions.evals.evaluate import aevaluate_team, evaluate_team
from extensions.evals.kept_exams import ExamPages
from graph.commands.scaffold import make_team
from graph.settings import Settings
from nodes.errors import ModelError, SettingsInvalid, Unauthorized
from state import Tier
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask
from tests.integration.langsmith_server import run_langsmith_server
from tests.screen import run_supervise
from tests.trusted_files import list_user_folders

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FACT = {"id": "fact", "request": "How long does the juice keep?", "files": ["sample"]}
PLANNED = {"id": "plan", "request": "How long does the juice keep?"}
OFFLINE = """
import sys
from graph.cli import main
from tests.trusted_files import list_user_folders

sys.addaudithook(
    lambda event, args: event in ("socket.connect", "socket.getaddrinfo")
    and print("LEFT", event, args[1:], file=sys.stderr)
)
main()
"""


@pytest.fixture
def juice() -> Path:
    """A team that works, with an exam that it passes."""
    return make_team("juice", Path("teams"))


def write_exam(folder: Path, *rows: dict[str, Any]) -> None:
    """Give a team another exam."""
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "evals.jsonl").write_text(text)


def test_a_passed_exam_is_a_table_and_leaves_no_run_behind(juice, capsys):
    assert run_supervise("eval", str(juice), "--threshold", "100") == 0

    out, err = capsys.readouterr()
    assert out.startswith("juice · 7 rows · models: embedded")
    assert "score        100.0     7  the mean over the rows" in out
    assert "score 100.0, threshold 100: reached" in out
    assert "shelf-life 100" in err
    assert sorted(path.name for path in Path().iterdir()) == [".supervise", "teams"]
    assert [path.name for path in Settings().home.iterdir()] == ["exams"]


def test_a_missed_exam_ends_with_3_and_says_what_was_missed(juice, capsys):
    write_exam(
        juice, {**FACT, "expect": {"facts": ["18 months", "19 months"], "sources": ["b.md"]}}
    )

    assert run_supervise("eval", str(juice), "-q") == 3

    out, err = capsys.readouterr()
    assert "fact  62.5  facts: not in the answer: 19 months; sources: not cited: b.md" in out
    assert err == ""


def test_json_is_one_object_with_every_row(juice, capsys):
    assert run_supervise("eval", str(juice), "--json", "-q", "--only", "shelf-life") == 0

    output = json.loads(capsys.readouterr().out)
    assert (output["team"], output["score"], output["threshold"]) == ("juice", 100.0, 80.0)
    assert output["metrics"]["facts"] == {"score": 100.0, "rows": 1, "counted": True}
    assert output["spent"]["calls"] == 4
    (row,) = output["rows"]
    assert (row["id"], row["status"]) == ("shelf-life", "passages")
    assert "18 months" in row["answer"]


def test_a_bad_row_is_named_with_file_and_line_by_eval_and_by_check(juice, capsys):
    write_exam(juice, {**PLANNED, "expect": {"worker": ["reader"]}})

    assert run_supervise("eval", str(juice)) == 2
    examined = capsys.readouterr()
    assert run_supervise("check", str(juice)) == 2
    checked = capsys.readouterr()

    text = "teams/juice/evals.jsonl:1: unknown key 'expect.worker'; did you mean 'workers'?"
    assert examined.out.strip() == checked.out.strip() == text
    assert examined.err.splitlines()[-1].startswith(f"error[EXAM_INVALID] {text}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["market_analisys"], "did you mean 'market_analysis'"),
        (["teams/juice", "--only", "shelf-lif"], "did you mean 'shelf-life'"),
        (["teams/juice", "--against", "standrd=embedded"], "did you mean 'standard'"),
        (["teams/juice", "--against", "./nowhere"], "nowhere: does not exist"),
        (["teams/juice", "--against", "strong=openai:gpt-5"], "there is no key for it"),
        (["teams/juice", "--threshold", "101"], "--threshold"),
    ],
)
def test_a_misuse_is_one_line_before_anything_runs(juice, capsys, arguments, message):
    assert run_supervise("eval", *arguments) == 2

    out, err = capsys.readouterr()
    *before, error = err.splitlines()
    assert out == "" and message in error
    assert all(line.startswith("starting the exam of team ") for line in before)


def test_against_another_folder_shows_what_its_prompts_change(juice, capsys):
    other = juice.parent / "untaught"
    shutil.copytree(juice, other)
    (other / "examples.yaml").unlink()

    assert run_supervise("eval", str(juice), "--against", str(other), "-q") == 0
    table = capsys.readouterr().out
    assert run_supervise("eval", str(juice), "--against", str(other), "-q", "--json") == 0
    output = json.loads(capsys.readouterr().out)

    assert "against teams/untaught: untaught · 7 rows" in table
    assert "rows that differ" in table
    assert output["score"] == 100 > output["against"]["score"]
    assert output["difference"]["score"] == pytest.approx(output["against"]["score"] - 100)
    assert output["difference"]["routing"] < 0


def test_against_another_model_asks_that_model(juice, capsys, monkeypatch):
    write_exam(juice, {**PLANNED, "expect": {"workers": ["reader"]}})
    words = "Compute `6 * 7` in litres of apple juice."
    task = ScriptedTask(id="sum", worker="calculator", description=words)
    with Endpoint(Scenario(tasks=(task,))).run_in_thread() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        for tier in ("FAST", "STANDARD", "STRONG"):
            monkeypatch.setenv(f"SUPERVISE_MODEL_{tier}", "embedded")

        assert run_supervise("eval", str(juice), "--against", "strong=openai:gpt-5", "-q") == 0

    out = capsys.readouterr().out
    assert "against strong=openai:gpt-5: juice · 1 row" in out
    assert "-100.0" in out
    assert [call.schema for call in endpoint.requests] == ["Plan"]


def test_a_criterion_is_left_out_and_said_so_where_no_model_can_judge(juice, capsys):
    write_exam(juice, {**FACT, "expect": {"judged": "It says how long."}})

    assert run_supervise("eval", str(juice), "-q") == 0

    out, err = capsys.readouterr()
    assert "judged" not in out
    assert "left out: judged: the strong tier is the embedded model" in err


def run_with_judge(juice: Path, tier: Tier = "strong", **score: Any) -> tuple[Endpoint, Any]:
    write_exam(juice, {**FACT, "expect": {"judged": "It names the {months}."}})
    words = "Find in juice.md how many months the apple juice keeps."
    task = ScriptedTask(id="keeps", worker="reader", description=words)
    scenario = Scenario(tasks=(task,), answers={"score": score})
    with Endpoint(scenario).run_in_thread() as endpoint:
        settings = Settings(openai_base_url=endpoint.base_url, openai_api_key="sk-test-0123456789")
        return endpoint, evaluate_team(juice, settings=settings, judge_tier=tier)


@pytest.mark.parametrize(("tier", "model"), [("strong", "gpt-6.1-sol"), ("fast", "gpt-6-luna")])
def test_a_criterion_is_judged_by_the_strong_model_or_by_another_tier(juice, tier, model):
    endpoint, evaluation = run_with_judge(juice, tier, reasoning="It names none.", score=False)

    (row,) = evaluation.rows
    (asked,) = endpoint.select_calls(schema="score")
    assert row.scores["judged"].value == 0
    assert "judged: It names none." in row.complaints
    assert "It names the {months}." in str(asked.body)
    assert asked.body["model"] == model


def test_a_row_may_examine_one_worker_without_a_planner(juice):
    write_exam(juice, {**FACT, "worker": "reader", "expect": {"status": "done"}})
    with Endpoint(Scenario()).run_in_thread() as endpoint:
        settings = Settings(openai_base_url=endpoint.base_url, openai_api_key="sk-test-0123456789")
        evaluation = evaluate_team(juice, settings=settings)

    assert {call.schema for call in endpoint.requests} == {"Report", "Answer"}
    assert evaluation.rows[0].scores["completed"].value == 1


def test_a_judge_without_a_verdict_costs_no_row(juice):
    _, evaluation = run_with_judge(juice, reasoning="I cannot say.")

    assert evaluation.average_metric("judged") is None
    assert "row fact: the judge returned no verdict" in evaluation.left_out["judged"]
    assert evaluation.average_metric("completed") == 100


def test_a_row_that_cannot_begin_has_failed_and_the_others_go_on(juice):
    (juice / "empty").mkdir()
    (juice / "picture.png").write_bytes(b"\x89PNG")
    for_failure = {"files": ["empty"], "expect": {"status": "failed"}}
    unread = {**FACT, "id": "unread", "files": ["empty"], "expect": {"facts": ["18 months"]}}
    write_exam(
        juice,
        {**FACT, "id": "refused", **for_failure},
        unread,
        {**FACT, "expect": {"facts": ["18"]}},
    )

    evaluation = evaluate_team(juice)

    scores = {row.row.id: row.score for row in evaluation.rows}
    assert scores == {"refused": 100, "unread": 0, "fact": 100}
    assert "the folder contains no document" in str(evaluation.rows[1].complaints)


@pytest.mark.parametrize(
    ("kind", "error"),
    [("unauthorized", Unauthorized), ("reset", ModelError)],
)
def test_a_model_that_no_row_can_reach_ends_the_exam(juice, kind, error):
    rows = [{**PLANNED, "id": f"r{n}", "expect": {"status": "done"}} for n in range(8)]
    write_exam(juice, *rows)
    with Endpoint(Scenario(faults=(Fault(kind=kind),))).run_in_thread() as endpoint:
        settings = Settings(
            openai_base_url=endpoint.base_url, openai_api_key="sk-0123456789", call_timeout_s=2.0
        )

        with pytest.raises(error) as raised:
            evaluate_team(juice, settings=settings)

    assert "resume" not in raised.value.format_line()
    if kind == "unauthorized":
        assert len(endpoint.requests) <= 2 * 3  # two rows begin at once; a plan asks all tiers


async def test_a_cancelled_exam_leaves_no_row_at_work(juice, endpoint):
    endpoint.load_scenario(Scenario(faults=(Fault(kind="hang", schema="Plan"),)))
    settings = Settings(openai_base_url=endpoint.base_url, openai_api_key="sk-0123456789")
    exam = asyncio.ensure_future(aevaluate_team(juice, settings=settings))
    await endpoint.wait_for_calls(began=2)

    exam.cancel()

    with pytest.raises(asyncio.CancelledError):
        await exam
    await endpoint.wait_for_calls(began=2, ended=2)
    assert [call.client_gone for call in endpoint.requests] == [True, True]


def test_nothing_leaves_the_machine_also_with_a_key_of_langsmith(juice):
    key = {"LANGSMITH_API_KEY": "lsv2_pt_0123456789", "LANGSMITH_TRACING_V2": "true"}

    ended = subprocess.run(
        [sys.executable, "-c", OFFLINE, "eval", str(juice)],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", **list_user_folders(), **key},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    assert "LEFT" not in ended.stderr
    assert "threshold 80: reached" in ended.stdout


def test_with_tracing_on_the_exam_is_an_experiment_in_langsmith(juice):
    write_exam(
        juice, {**FACT, "expect": {"facts": ["18"]}}, {**PLANNED, "expect": {"workers": ["reader"]}}
    )
    with run_langsmith_server() as kept:
        settings = Settings(
            langsmith_tracing=True, langsmith_api_key="lsv2_pt_x", langsmith_endpoint=kept.url
        )
        evaluation = evaluate_team(juice, settings=settings)
        write_exam(juice, {**FACT, "expect": {"facts": ["18 months"]}})
        evaluate_team(juice, settings=settings)

    assert [dataset["name"] for dataset in kept.datasets] == ["supervisor-worker juice"]
    assert [example["inputs"]["id"] for example in kept.examples] == ["fact", "plan"]
    assert kept.examples[0]["outputs"] == {"facts": ["18 months"]}
    assert len(kept.sessions) == 2
    assert {"facts", "citations", "routing"} <= {given["key"] for given in kept.feedback}
    assert any(request.startswith("POST /runs") for request in kept.requests)
    assert kept.sessions[0]["id"] in evaluation.experiment


def test_a_langsmith_that_cannot_be_reached_is_one_line(juice):
    settings = Settings(
        langsmith_tracing=True,
        langsmith_api_key="lsv2_pt_x",
        langsmith_endpoint="http://127.0.0.1:9",
    )

    with pytest.raises(SettingsInvalid, match="LangSmith does not accept the exam") as raised:
        evaluate_team(juice, settings=settings)

    assert "unset LANGSMITH_TRACING" in raised.value.format_line()


def test_a_finished_exam_is_kept_for_the_page_of_the_team(juice, capsys):
    write_exam(juice, PLANNED | {"expect": {"workers": ["reader"]}})

    run_supervise("eval", str(juice), "--against", "fast=embedded")

    kept = ExamPages().list_kept(Settings().home, "juice")
    assert [each["exam"]["against"] for each in kept] == ["fast=embedded", ""]


def test_an_exam_against_one_agent_compares_what_both_answer(juice, capsys):
    write_exam(
        juice,
        {**FACT, "expect": {"facts": ["18 months"], "workers": ["reader"]}},
        {**PLANNED, "expect": {"workers": ["reader"]}},
    )

    assert run_supervise("eval", str(juice), "--against", "single", "--json", "-q") == 0

    result = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in result["rows"]] == ["fact", "plan"]
    assert [row["id"] for row in result["compared"]["rows"]] == ["fact"]
    assert [row["id"] for row in result["against"]["rows"]] == ["fact"]
    assert result["against"]["rows"][0]["plan"]["tasks"][0]["worker"] == "single_agent"
    assert "routing" in result["metrics"] and "routing" not in result["compared"]["metrics"]
    assert result["against"]["metrics"]["facts"]["score"] == 100


def test_an_exam_of_plans_alone_cannot_be_compared_with_one_agent(juice, capsys):
    write_exam(juice, {**PLANNED, "expect": {"workers": ["reader"]}})

    assert run_supervise("eval", str(juice), "--against", "single", "-q") == 2

    assert "a single agent makes none" in capsys.readouterr().err


def test_an_exam_names_the_worker_that_does_all(juice, capsys):
    requests = [f"How long does the juice keep in {n} degrees?" for n in range(15)]
    rows = [{"id": f"r{n}", "request": text} for n, text in enumerate(requests)]
    write_exam(juice, *({**row, "expect": {"workers": ["reader"]}} for row in rows))

    assert run_supervise("eval", str(juice), "-q", "--json") == 0

    advice = json.loads(capsys.readouterr().out)["advice"]
    assert advice == [
        "reader did all tasks in 15 rows. One agent may do as well without a plan: supervise eval "
        "juice --against single compares them"
    ]
