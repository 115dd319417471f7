"""Certificates as files of the command line: written, run within, refused in one line."""

import json
import shlex
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[4]
REQUEST = "What is the total of cap_2024 by company?"


@pytest.fixture
def table() -> str:
    Path("caps.csv").write_text("company,cap_2023,cap_2024\nNorth,100,150\nSouth,200,220\n")
    return "caps.csv"


def test_the_certificate_of_a_plan_is_shown_written_and_run_within(supervise, table: str) -> None:
    how = ("run", REQUEST, "--file", table)

    assert supervise(*how, "--plan-only", "--certificate", "c.json") == 0
    printed, written = json.loads(supervise.out), json.loads(Path("c.json").read_text())
    assert "no language model is set up: a run costs nothing" in supervise.err
    Path("plan.json").write_text(supervise.out)
    assert printed["certificate"] == written

    assert supervise(*how, "--plan", "plan.json", "--within", "c.json", "-q") == 0
    assert "370" in supervise.out or "150" in supervise.out
    assert supervise("run", "Who is the owner?", "--file", table, "--within", "c.json") == 2
    assert supervise.err.splitlines()[-1].startswith("error[OUTSIDE_CERTIFICATE]")


def test_the_plan_as_json_has_the_bounds_of_its_certificate_only_where_that_is_asked_for(
    supervise, table: str
) -> None:
    assert supervise("run", REQUEST, "--file", table, "--plan-only", "--json") == 0

    printed = json.loads(supervise.out)
    assert not {"certificate", "worst_case"} & printed.keys()
    assert set(printed["estimate"]) == {
        *("model_calls", "input_tokens", "output_tokens", "cost_usd", "seconds"),
        *("low", "high", "runs", "models"),
    }


def test_the_page_shows_what_its_commands_print(supervise) -> None:
    shown = (ROOT / "docs/guide/certificates.md").read_text("utf-8").split("```text\n")[1]
    first, *printed, second = shown.partition("\n```")[0].splitlines()
    for line in (first, second):
        command, _, output = line.partition(" > ")
        _, _, *words = shlex.split(command)
        place = words.index("--file") + 1
        words[place] = str(ROOT / words[place])
        assert supervise(*words) == 0, supervise.err
        if output:
            Path(output).write_text(supervise.out)
            assert supervise.err.splitlines()[-len(printed) + 1 :] == printed[1:]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Expecting value"),
        ("[]", "it is no JSON object"),
        ('{"version": 9}', "the certificate cannot be used"),
        (f'{{"a": {"[" * 900}{"]" * 900}}}', "nested too deeply"),
        (f'{{"a": "{"x" * 4_000_001}"}}', "more than 4,000,000 bytes"),
    ],
)
def test_a_file_that_is_no_certificate_is_refused_in_one_line(
    supervise, table: str, text: str, said: str
) -> None:
    Path("c.json").write_text(text)

    assert supervise("run", REQUEST, "--file", table, "--within", "c.json") == 2

    assert said in supervise.err.splitlines()[-1]
    assert "Traceback" not in supervise.err


def test_a_plan_that_cannot_be_read_is_refused_in_one_line(supervise, table: str) -> None:
    Path("plan.json").write_text('{"goal": "x"}')

    assert supervise("run", REQUEST, "--file", table, "--plan", "plan.json") == 2

    assert "cannot read the plan plan.json: tasks" in supervise.err.splitlines()[-1]
