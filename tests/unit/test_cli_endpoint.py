"""`supervise` against an endpoint: what fails is told, what is cancelled is kept."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.endpoint import Endpoint, Scenario, script_tasks
from tests.screen import run_supervise
from tests.teams import write_team

pytestmark = pytest.mark.slow

TASKS = script_tasks({"a": (), "b": (), "c": ("a", "b")}, worker="analyst")
REQUEST = "Compare part a of a.md with part b of b.md"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    folder = write_team(Path("teams/parts"), analyst="description: Writes of parts.")
    with Endpoint(Scenario(tasks=TASKS)).run_in_thread() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden-0123456789")
        monkeypatch.setenv("SUPERVISE_TEAMS", str(folder.parent))
        yield endpoint


@pytest.mark.parametrize("option", ["--compare-sequential", "--quiet"])
def test_a_refused_key_ends_a_run_without_being_shown_and_nothing_is_compared(
    served, capsys, option
):
    served.load_scenario(Scenario(tasks=TASKS, api_key="sk-another"))

    assert run_supervise("run", REQUEST, "--team", "parts", option) == 4

    out, err = capsys.readouterr()
    assert out == ""
    assert "error[UNAUTHORIZED]" in err and "sk-hidden" not in err
    if option == "--quiet":
        assert err.count("\n") == 1
    else:
        assert "not compared: the first run has no answer" in err
        assert "one task at a time" not in err


def test_a_comparison_measures_both_ways_to_run_a_plan(served, capsys, caplog):
    tasks = script_tasks({"a": (), "b": (), "c": ()}, worker="analyst", latency_s=0.3)
    served.load_scenario(Scenario(tasks=tasks))

    assert run_supervise("run", REQUEST, "--team", "parts", "--compare-sequential", "--json") == 0

    out, err = capsys.readouterr()
    outcome = json.loads(out)
    comparison = outcome["comparison"]
    assert "failed" not in caplog.text  # also not in the run that loads the libraries
    assert outcome["timing"]["speedup"] is None and "speed-up" not in err
    assert comparison["sequential"]["seconds"] >= 0.9
    assert comparison["ratio"] > 1.3
    assert comparison["sequential"]["model_calls"] == comparison["parallel"]["model_calls"] - 1
