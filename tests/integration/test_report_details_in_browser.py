"""What the report says beside its pictures, drawn in Chromium from runs of the examples."""

from pathlib import Path

import pytest

from examples.mechanisms import contradiction, replan, split
from examples.mechanisms.scripted import Played
from graph.pages.report import format_report
from graph.runs.trace import build_trace
from tests.integration.test_report_in_browser import CHROMIUM, draw

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


def write_page(played: Played) -> str:
    return format_report(build_trace(played.events))


async def test_both_sides_of_a_contradiction_and_its_decision_are_shown(tmp_path: Path):
    drawn = draw(write_page(await contradiction.run_example()), tmp_path)

    assert "Huila cost 24 EUR per kilogram in 2025." in drawn.text
    assert "✕ does not hold" in drawn.text and "✓ holds" in drawn.text
    assert "An invoice is what was paid." in drawn.text
    assert "Not decided:" in drawn.text and "Neither names a harvest." in drawn.text


async def test_a_revised_plan_is_shown_with_its_reason_and_difference(tmp_path: Path):
    drawn = draw(write_page(await replan.run_example()), tmp_path)

    assert "There is no bug to write about; a setting." in drawn.text
    assert "+ added ops" in drawn.text and "\N{MINUS SIGN} removed comms" in drawn.text
    assert "as before: code, figures" in drawn.text


async def test_costs_are_shown_by_purpose(tmp_path: Path):
    drawn = draw(write_page(await split.run_example()), tmp_path)

    assert "new words for a task" in drawn.text
    assert "10 model calls" in drawn.text
