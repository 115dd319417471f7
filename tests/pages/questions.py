"""Drive the plan editor, all kinds of questions and the stop of a task in a browser.

python -m tests.pages.questions [--server dev|aegra] [--screenshots FOLDER]
                               [--browser chromium|firefox]
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.endpoint import Scenario, ScriptedTask
from tests.endpoint.process import run_endpoint_process
from tests.mcp.teams import describe_hostile, write_team
from tests.pages import servers
from tests.pages.__main__ import BROWSERS, run_driver
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


def drive_questions(server: str, screenshots: Path, browser: str) -> bool:
    """Play the story of a plan and two questions; return whether it came to its end."""
    with (
        tempfile.TemporaryDirectory() as folder,
        run_endpoint_process(build_story()) as endpoint,
        servers.run_server(server, Path(folder), endpoint.base_url) as running,
    ):
        shown = {"name": f"questions-{server}", "screenshots": str(screenshots)}
        given = {"url": running["url"], **shown}
        return _drive("drive_questions.mjs", given, browser)


def drive_calls(screenshots: Path, browser: str) -> bool:
    """Play the story of two calls that wait for confirmation: one is changed, one is refused."""
    calls = tuple(("bad_echo", {"text": text}) for text in ("first", "second"))
    task = ScriptedTask(id="a", worker="clerk", tool_calls=calls, calls_a_turn=2)
    with (
        tempfile.TemporaryDirectory() as name,
        run_endpoint_process(Scenario(tasks=(task,))) as endpoint,
    ):
        folder = Path(name)
        asked = folder / "calls"
        bad = describe_hostile(timeout_s=30, env={"CALLS": str(asked)})
        write_team(folder / "asker", {"bad": bad}, {"clerk": ["mcp:bad/echo"]})
        with servers.run_server("dev", folder, endpoint.base_url, "./asker") as running:
            shown = {"name": "calls-dev", "screenshots": str(screenshots)}
            given = {"url": running["url"], **shown}
            is_right = _drive("drive_calls.mjs", given, browser)
        made = asked.read_text().splitlines() if asked.exists() else []
    print(f"calls that were made: {made}")
    return is_right and made == ["echo changed"]


def _drive(script: str, given: dict[str, str], browser: str) -> bool:
    is_right, said = run_driver(script, given, browser)
    print(f"{given['name']}: {'passed' if is_right else 'failed'}\n{said}")
    return is_right


def main() -> int:
    """Print what the page showed; return 1 if a story broke off."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--server", choices=servers.NAMES, default="dev")
    parser.add_argument("--screenshots", type=Path, default=Path("build/pages"))
    parser.add_argument("--browser", choices=BROWSERS, default="chromium")
    options = parser.parse_args()
    options.screenshots.mkdir(parents=True, exist_ok=True)
    folder = options.screenshots.resolve()
    results = [drive_questions(options.server, folder, options.browser)]
    if options.server == "dev":
        results.append(drive_calls(folder, options.browser))
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(main())
