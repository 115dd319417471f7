"""How `supervise run` shows a strategy, a grant and what the built-in model cannot do."""

import json
from pathlib import Path

import pytest

from tests.screen import run_supervise
from tests.teams import write_team

pytestmark = pytest.mark.slow

REQUEST = "How long does the juice keep?"


@pytest.fixture(autouse=True)
def team(monkeypatch: pytest.MonkeyPatch) -> None:
    """A team of one worker that searches documents, and a document."""
    writer = "description: Writes on juice.\ntools: [search_documents]"
    write_team(Path("teams/juice"), "description: On juice.", writer=writer)
    Path("juice.md").write_text("The juice keeps 18 months in the dark.\n")
    monkeypatch.setenv("SUPERVISE_TEAMS", "teams")


def run_team(*options: str) -> int:
    return run_supervise("run", REQUEST, "--team", "juice", "--file", "juice.md", *options)


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (["--strategy", "recursive"], "strategy: recursive (at most 1 deep, 5 tasks wide)"),
        (["--strategy", "route", "--plan-only"], "strategy: route"),
        (["--recruit", "calculate, read_material"], "specialists: calculate, read_material"),
    ],
)
def test_the_first_line_of_a_run_shows_its_strategy_with_its_caps_and_its_grant(
    capsys, options, shown
):
    assert run_team(*options) == 0

    (first,) = [each for each in capsys.readouterr().err.splitlines() if each.startswith("team ")]
    assert f" · {shown}" in first


def test_a_plain_run_shows_neither_a_strategy_nor_a_grant(capsys):
    assert run_team() == 0

    err = capsys.readouterr().err
    assert "strategy" not in err and "specialists" not in err and "note:" not in err


@pytest.mark.parametrize(
    ("options", "note"),
    [
        (["--strategy", "route", "--critic", "on"], "note: no critic reviews the answer: "),
        (["--strategy", "recursive"], "note: the built-in model divides a task only where "),
    ],
)
def test_what_the_built_in_model_cannot_do_is_one_line(capsys, options, note):
    assert run_team(*options) == 0

    assert capsys.readouterr().err.count(note) == 1


def test_a_tool_that_cannot_be_granted_is_one_line_and_no_run_is_kept(capsys):
    assert run_team("--recruit", "calculat", "-q") == 2

    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1 and "did you mean 'calculate'?" in err
    run_supervise("runs")
    assert "running" not in capsys.readouterr().out


def test_a_step_that_used_no_tool_and_that_no_language_model_judged_is_not_done(capsys):
    Path("teams/juice/writer.md").write_text("---\ndescription: Writes on juice.\n---\nWrite.\n")

    assert run_team("--strategy", "step", "--json", "-q") == 3

    shown = json.loads(capsys.readouterr().out)
    assert shown["status"] == "partial"
    assert any(gap.startswith("no tool was called") for gap in shown["answer"]["gaps"])


def test_a_step_whose_tool_computed_the_answer_is_done(capsys):
    Path("teams/juice/clerk.md").write_text(
        "---\ndescription: Computes figures.\ntools: [calculate]\n---\nCompute.\n"
    )

    assert run_supervise("run", "Compute 6 * 7", "--team", "juice", "--strategy", "step", "-q") == 0

    assert "42" in capsys.readouterr().out


def test_a_shipped_team_gets_a_specialist_for_what_no_worker_of_it_can_do(capsys):
    asked = ("Compute 24 * 12 * 0.85", "--team", "expert_router")

    assert run_supervise("run", *asked) == 3
    alone = capsys.readouterr()
    assert run_supervise("run", *asked, "--recruit", "calculate") == 0
    out, err = capsys.readouterr()

    assert "244.8" in out and "244.8" not in alone.out
    assert "recruited: specialist, with calculate" in err
