"""Drive the plan editor, the questions and the stop of a task in Chromium against `langgraph dev`.

python -m tests.pages.questions [--server dev|aegra] [--screenshots FOLDER]
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.endpoint import Scenario, ScriptedTask
from tests.endpoint.process import run_endpoint_process
from tests.pages import servers
from tests.pages.__main__ import run_driver
from tests.pages.scenarios import HOSTILE

ANSWER = "Huila costs least: 24 EUR a kilogram without tax."


def build_story() -> Scenario:
    """Return a plan of which two tasks ask, one never ends by itself, and one needs both."""

    def ask(question: str) -> dict[str, object]:
        asking = {"reason": "ambiguous_input", "message": question, "partial": "24 EUR"}
        return {"status": "escalated", "escalation": asking}

    done = {"output": "Huila costs 24 EUR.", "confidence": 90}
    return Scenario(
        goal="Find the coffee that costs least.",
        tasks=(
            ScriptedTask(id="prices", report=[ask(f"With or without tax? {HOSTILE}"), done]),
            ScriptedTask(id="weights", report=[ask("Green or roasted?"), done]),
            ScriptedTask(id="slow", latency_s=600.0, report=done),
            ScriptedTask(
                id="ranking",
                depends_on=("prices", "weights", {"task": "slow", "required": False}),
                report=done,
            ),
        ),
        answers={"Answer": {"text": ANSWER, "confidence": 90}},
    )


def main() -> int:
    """Print what the page showed; return 1 if the story broke off."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--server", choices=servers.NAMES, default="dev")
    parser.add_argument("--screenshots", type=Path, default=Path("build/pages"))
    options = parser.parse_args()
    options.screenshots.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        run_endpoint_process(build_story()) as endpoint,
        servers.run_server(options.server, Path(folder), endpoint.base_url) as url,
    ):
        given = {
            "url": url,
            "name": f"questions-{options.server}",
            "screenshots": str(options.screenshots.resolve()),
            "answer": ANSWER,
        }
        is_right, said = run_driver("drive_questions.mjs", given)
    print(said)
    return int(not is_right)


if __name__ == "__main__":
    sys.exit(main())
