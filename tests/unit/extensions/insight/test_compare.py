"""`supervise run --compare`: one request with several strategies, side by side."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from extensions.insight.compare import measure
from graph.runs.outcome import Outcome
from state import Answer, Claim
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask
from tests.screen import CapturedScreen
from tests.teams import write_team

REQUEST = "Compare part a with part b."
TASKS = (ScriptedTask(id="a", worker="clerk"), ScriptedTask(id="b", worker="clerk"))
ALONE = ScriptedTask(id="T1", worker="single_agent")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    write_team(Path("clerks"), clerk="description: Writes of parts.")
    with Endpoint(Scenario(tasks=TASKS)).run_in_thread() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
        yield endpoint


@pytest.mark.slow
def test_each_strategy_is_a_column_and_keeps_a_thread(supervise: CapturedScreen, served: Endpoint):
    code = supervise("run", REQUEST, "--team", "./clerks", "--compare", "single,plan", "-q")

    cells = {line.split("  ")[0].strip(): line.split()[-2:] for line in supervise.out.splitlines()}
    assert code == 0 and supervise.out.split()[:2] == ["single", "plan"]
    assert cells["status"] == ["done", "done"] and cells["model calls"] == ["2", "4"]
    assert "facts" not in cells and "claims proved" in cells
    for thread, tasks in zip(cells["thread"], (1, 2), strict=True):
        assert supervise("trace", thread) == 0
        assert len(json.loads(supervise.out)["tasks"]) == tasks


@pytest.mark.slow
def test_json_is_one_object_with_both_outcomes(supervise: CapturedScreen, served: Endpoint):
    words = ("--team", "./clerks", "--compare", "plan,single", "--json")
    assert supervise("run", REQUEST, *words) == 0

    found = json.loads(supervise.out)

    assert [run["strategy"] for run in found["runs"]] == ["plan", "single"]
    assert [len(run["outcome"]["results"]) for run in found["runs"]] == [2, 1]
    assert all(run["tokens"] > 0 and run["seconds"] > 0 for run in found["runs"])


@pytest.mark.slow
def test_one_that_fails_is_a_column_and_decides_the_exit_code(
    supervise: CapturedScreen, served: Endpoint
):
    lost = Fault(kind="unauthorized", schema="Report", task="T1")
    served.load_scenario(Scenario(tasks=(*TASKS, ALONE), faults=(lost,)))

    code = supervise("run", REQUEST, "--team", "./clerks", "--compare", "single,plan", "--json")

    statuses = [run["status"] for run in json.loads(supervise.out)["runs"]]
    assert code == 4 and statuses[0] == "failed" and statuses[1] in ("done", "partial")


@pytest.mark.slow
def test_one_that_cannot_begin_does_not_stop_the_other(supervise: CapturedScreen, served: Endpoint):
    words = ("--team", "./clerks", "--compare", "single,plan", "--recruit", "calculate", "--json")

    code = supervise("run", REQUEST, *words)

    assert code == 2 and "recruits no specialist" in supervise.err
    runs = json.loads(supervise.out)["runs"]
    assert [run["status"] for run in runs] == ["failed", "done"]
    assert runs[0]["outcome"]["error"]["code"] == "SETTINGS_INVALID"


@pytest.mark.slow
def test_an_answer_of_more_unread_passages_is_not_shown_as_the_better_one(
    supervise: CapturedScreen,
):
    Path("bees.md").write_text("# Roof\n\nThe roof is closed.\n\n# Acid\n\nFormic acid is used.\n")
    request = "When is formic acid used, and why is the roof closed?"

    assert supervise("run", request, "--file", "bees.md", "--compare", "single,plan") in (0, 3)

    (row,) = [line for line in supervise.out.splitlines() if line.startswith("claims proved")]
    assert row.count("not read") == 2
    assert "which answer is better is not judged" in supervise.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["single"], "needs two strategies"),
        (["single,single"], "needs two strategies"),
        (["single,team"], "'team' is no strategy"),
        ([","], "name one or more"),
        (["single,plan", "--thread", "one"], "without --thread"),
        (["single,plan", "--strategy", "plan"], "without --strategy"),
        (["single,plan", "--compare-sequential"], "without --compare-sequential"),
        (["single,plan", "--approve"], "without --approve"),
    ],
)
def test_what_leaves_nothing_to_compare_is_one_line(
    supervise: CapturedScreen, options: list[str], said: str
):
    assert supervise("run", REQUEST, "--compare", *options) == 2

    assert said in supervise.err and not supervise.out


def test_claims_are_counted_by_their_proof():
    proofs = ("quoted", "computed", "returned", "stated", "unproved", None)
    claims = tuple(Claim(text=f"c{n}", proof=proof) for n, proof in enumerate(proofs))

    row = measure(
        Outcome(thread="t", status="done", answer=Answer(text="a", claims=claims, gaps=("g",)))
    )

    assert (row["facts"], row["proved"], row["unproved"], row["gaps"]) == (6, 3, 1, 1)
    assert row["seconds"] is None and row["tokens"] == 0 and not row["is_unread"]
    row = measure(Outcome(thread="t", status="failed"))
    assert (row["facts"], row["gaps"], row["status"]) == (0, 0, "failed")
