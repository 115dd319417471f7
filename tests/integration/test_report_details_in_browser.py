"""What the report says beside its pictures, drawn in Chromium from runs of the examples."""

import shutil
import subprocess
from pathlib import Path

import pytest

from examples.mechanisms import contradiction, replan, split
from examples.mechanisms.scripted import Played
from graph.pages.report import format_report
from graph.runs.trace import build_trace
from tests.integration.test_report_in_browser import CHROMIUM, draw

WEB = Path(__file__).parents[2] / "web"
NODE = shutil.which("node")

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
    assert "+ added ops" in drawn.text and "− removed comms" in drawn.text
    assert "as before: code, figures" in drawn.text


async def test_costs_are_shown_by_purpose(tmp_path: Path):
    drawn = draw(write_page(await split.run_example()), tmp_path)

    assert "new words for a task" in drawn.text
    assert "10 model calls" in drawn.text


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
@pytest.mark.skipif(not (WEB / "node_modules").exists(), reason="needs npm ci in web/")
async def test_reports_have_no_serious_finding_of_axe(tmp_path: Path):
    files = [tmp_path / "contradiction.html", tmp_path / "split.html"]
    files[0].write_text(write_page(await contradiction.run_example()), encoding="utf-8")
    files[1].write_text(write_page(await split.run_example()), encoding="utf-8")
    assert NODE is not None and CHROMIUM is not None

    checked = subprocess.run(
        [NODE, "check-accessibility.mjs", *files],
        cwd=WEB,
        env={"CHROMIUM": CHROMIUM},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert (checked.returncode, checked.stdout) == (0, "")
