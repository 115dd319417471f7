"""Opens reports in Chromium: time to open, accessibility, keyboard, pictures.

    python -m tests.report_page

It needs Node, Chromium, and the packages of `web/` (`make pages` installs them). Pictures of each
report, light, dark, narrow and printed, are below `build/report`.
"""

import asyncio
import json
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, Final

from examples.mechanisms.scripted import Played
from graph.pages.report import write_report
from graph.runs.trace import build_trace
from tests.chat.clients import CHROMIUM_NAMES, ClientMissing, find_program
from tests.report_page.traces import make_hostile_trace, make_wide_trace

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
BUILD: Final = ROOT / "build" / "report"
EXAMPLES: Final = ("replan", "contradiction", "split", "nested", "time_limit")
KEYBOARD: Final = "replan"
TASK: Final = "ops"
"""A task of that example."""
MAX_OPENING_S: Final = 2.0
MAX_BYTES: Final = 5_000_000


def main() -> int:
    """Print what the reports do in the browser, and return 1 if something is wrong."""
    ArgumentParser(description="Open reports in Chromium, and list what is wrong.").parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    reports = {name: _write(name, trace) for name, trace in _make_traces().items()}
    try:
        done = _drive(reports)
    except ClientMissing as error:
        print(error)
        return 1
    problems = list(_list_problems(reports, done))
    for name, path in reports.items():
        print(
            f"{name:14} {path.stat().st_size / 1e6:5.2f} MB  opens in {done['opening'][name]:.2f} s"
        )
    print(f"keyboard: {done['keyboard']}")
    print(f"address: {done['address']}")
    print("\n".join(problems) or "no problems")
    return bool(problems)


def _make_traces() -> dict[str, dict[str, Any]]:
    examples = {name: _play(name) for name in EXAMPLES}
    wide = {f"wide-{count}": make_wide_trace(count) for count in (40, 1_000)}
    return {**examples, **wide, "hostile": make_hostile_trace()}


def _play(name: str) -> dict[str, Any]:
    """Return the trace of an example of a mechanism."""
    example = import_module(f"examples.mechanisms.{name}")
    with redirect_stdout(StringIO()):
        played: Played = asyncio.run(example.run_example())
    return build_trace(played.events)


def _write(name: str, trace: Mapping[str, Any]) -> Path:
    path = BUILD / f"{name}.html"
    write_report(trace, path)
    return path


def _drive(reports: Mapping[str, Path]) -> dict[str, Any]:
    given = {
        "reports": {name: str(path) for name, path in reports.items()},
        "keyboard": KEYBOARD,
        "task": TASK,
        "packages": str(ROOT / "web"),
        "pictures": str(BUILD),
        "chromium": find_program(*CHROMIUM_NAMES),
    }
    command = [find_program("node"), str(HERE / "drive_report.mjs"), json.dumps(given)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise ClientMissing(f"the browser failed: {done.stderr.strip()[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _list_problems(reports: Mapping[str, Path], done: Mapping[str, Any]) -> list[str]:
    slow = [name for name, seconds in done["opening"].items() if seconds > MAX_OPENING_S]
    large = [name for name, path in reports.items() if path.stat().st_size > MAX_BYTES]
    keyboard = done["keyboard"]
    address = done["address"]
    leads = (address["opened"], address["closed"]) == (TASK, "")
    leads = leads and address["chosen"].startswith("#task=") and not address["problems"]
    works = keyboard["isEnlarged"] and keyboard["back"] == keyboard["second"] != keyboard["first"]
    return [
        *(f"{name} opens slowly" for name in slow),
        *(f"{name} is large" for name in large),
        *(f"{name}: {text}" for name, all_found in done["found"].items() for text in all_found),
        *([] if leads else [f"address: {address}"]),
        *([] if works and not keyboard["problems"] else [f"keyboard: {keyboard}"]),
    ]


if __name__ == "__main__":
    sys.exit(main())
