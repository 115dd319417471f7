"""Measure how soon a cancelled run is gone, phase by phase, and what it leaves behind.

    python -m tests.benchmarks.cancel [--repeat 3]

Each trial runs the CLI in a process of its own against an endpoint in another, waits until the
phase has begun, sends SIGINT, and then resumes the thread. A run must be gone within two seconds,
leave no process and no request, and be done after the resume with no finished task done again.
"""

import argparse
import signal
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from graph.stores.sqlite_file import create_database_file
from tests.benchmarks.options import read_options
from tests.command_process import CommandProcess
from tests.endpoint import Fault, Scenario, ScriptedTask
from tests.endpoint.process import EndpointProcess, run_endpoint_process

LIMIT_S = 2.0
TOOLS = '''
import subprocess, time
from pathlib import Path
from langchain_core.tools import tool

@tool
def block() -> str:
    """Block a thread."""
    Path("began").touch()
    time.sleep(60 if not Path("quick").exists() else 0)
    return "done"

@tool
def spawn() -> str:
    """Wait for a process."""
    Path("began").touch()
    subprocess.run(["sleep", "60" if not Path("quick").exists() else "0"])
    return "done"
'''
WORKER = "---\ndescription: Does parts.\ntools: [slow_tools:block, slow_tools:spawn]\n---\nWork.\n"
DATABASE = Path(".supervise") / "runs.sqlite"
Calls = list[dict[str, Any]]
HasBegun = Callable[[CommandProcess, Path, Calls], bool]


@dataclass(frozen=True)
class Phase:
    """Where a run is when it is cancelled."""

    name: str
    faults: tuple[Fault, ...] = ()
    tool: str = ""
    has_begun: HasBegun = field(kw_only=True)
    locked: Literal["", "opening", "saving"] = ""
    """When another process holds the run database."""


def has_asked(schema: str, number: int = 1) -> HasBegun:
    """Make a test of whether so many requests for a schema have come."""
    return lambda command, folder, calls: sum(call["schema"] == schema for call in calls) >= number


def is_blocked(command: CommandProcess, folder: Path, calls: Calls) -> bool:
    """Return whether a tool has begun that will not end."""
    return (folder / "began").exists()


def has_opened(command: CommandProcess, folder: Path, calls: Calls) -> bool:
    """Return whether the run database is open."""
    return command.has_file_open(folder / DATABASE)


def make_hanging_faults(schema: str, task: str | None = None) -> tuple[Fault, ...]:
    """Let the first request for a schema hang."""
    return (Fault(kind="hang", schema=schema, task=task, nth=(1,)),)


PHASES = (
    Phase("planning", make_hanging_faults("Plan"), has_begun=has_asked("Plan")),
    Phase("workers", make_hanging_faults("Report", "b"), has_begun=has_asked("Report", 2)),
    Phase("blocking tool", tool="block", has_begun=is_blocked),
    Phase("tool's process", tool="spawn", has_begun=is_blocked),
    Phase("synthesis", make_hanging_faults("Answer"), has_begun=has_asked("Answer")),
    Phase("opening the store", locked="opening", has_begun=has_opened),
    Phase("saving to the store", locked="saving", has_begun=has_asked("Report", 2)),
)


@dataclass
class CancelTrial:
    """What one cancel did."""

    seconds: float
    problems: list[str] = field(default_factory=list)


def run_trial(phase: Phase) -> CancelTrial:
    """Run, cancel in the phase, resume, and look for what should not be."""
    tool_calls: Any = ((phase.tool, {}),) if phase.tool else ()
    tasks = (
        ScriptedTask(id="a", worker="worker"),
        ScriptedTask(id="b", worker="worker", tool_calls=tool_calls),
    )
    latency_s = {"Report": 0.3} if phase.locked == "saving" else {}
    scenario = Scenario(tasks=tasks, faults=phase.faults, latency_s=latency_s)
    with run_endpoint_process(scenario) as served, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = _prepare_folder(folder, served)
        with ExitStack() as held:
            if phase.locked == "opening":
                held.enter_context(_lock_database(folder))
            command = _start_command(folder, environment, served, phase)
            if phase.locked == "saving":
                held.enter_context(_lock_database(folder))
            time.sleep(0.5)
            began_s = time.perf_counter()
            command.send_signal(signal.SIGINT)
            code = command.wait()
            made = CancelTrial(time.perf_counter() - began_s)
        made.problems = _list_problems(code, command, served)
        (folder / "quick").touch()
        made.problems += _list_resume_problems(folder, environment, served, phase)
    return made


def _prepare_folder(folder: Path, served: EndpointProcess) -> dict[str, str]:
    team = folder / "teams" / "parts"
    team.mkdir(parents=True)
    (team / "team.md").write_text("---\ndescription: Parts.\n---\nA task for each part.\n")
    (team / "worker.md").write_text(WORKER)
    (folder / "slow_tools.py").write_text(TOOLS)
    return {
        "OPENAI_BASE_URL": served.base_url,
        "OPENAI_API_KEY": "sk-cancel",
        "SUPERVISE_TEAMS": str(team.parent),
    }


def _start_command(
    folder: Path, environment: dict[str, str], served: EndpointProcess, phase: Phase
) -> CommandProcess:
    command = CommandProcess(
        *("run", "Compare part a with part b.", "--team", "parts", "--thread", "one"),
        folder=folder,
        environment=environment,
    )
    while command.is_running() and not phase.has_begun(
        command, folder, served.fetch_records()["calls"]
    ):
        time.sleep(0.02)
    return command


def _list_problems(code: int, command: CommandProcess, served: EndpointProcess) -> list[str]:
    found = []
    if code != 130:
        found.append(f"exit code {code}")
    if command.surviving_processes:
        found.append(f"{len(command.surviving_processes)} processes left")
    if "Traceback" in command.stderr:
        found.append("a traceback")
    time.sleep(0.2)
    if any(call["ended_s"] is None for call in served.fetch_records()["calls"]):
        found.append("a request goes on")
    return found


def _list_resume_problems(
    folder: Path, environment: dict[str, str], served: EndpointProcess, phase: Phase
) -> list[str]:
    verb: tuple[str, ...] = ("resume", "one")
    if phase.locked == "opening":  # nothing could be accepted while the store was locked
        verb = ("run", "Compare part a with part b.", "--team", "parts", "--thread", "one")
    finished = {
        call["task"]
        for call in served.fetch_records()["calls"]
        if call["schema"] == "Report" and not call["client_gone"] and not call["fault"]
    }
    command = CommandProcess(*verb, folder=folder, environment=environment)
    code = command.wait()
    calls = Counter(
        call["task"] for call in served.fetch_records()["calls"] if call["schema"] == "Report"
    )
    found = [] if code == 0 else [f"resumed with exit code {code}: {command.stderr[-300:]}"]
    is_saved = not phase.tool and phase.locked != "saving"
    if is_saved and any(calls[task] > 1 for task in finished):
        found.append("a finished task was done again")
    return found


@contextmanager
def _lock_database(folder: Path) -> Iterator[None]:
    """Hold the run database as another process would."""
    path = folder / DATABASE
    path.parent.mkdir(exist_ok=True)
    create_database_file(path)
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("BEGIN EXCLUSIVE")
        yield
    finally:
        connection.close()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    options = read_options(parser)
    is_right = True
    print("| cancelled in | median s | worst s | what went wrong |")
    print("|---|---|---|---|")
    for phase in PHASES[: options.rows]:
        trials = [run_trial(phase) for _ in range(options.repeat)]
        taken = [one.seconds for one in trials]
        wrong = sorted({problem for one in trials for problem in one.problems})
        is_right &= not wrong and max(taken) <= LIMIT_S
        median = statistics.median(taken)
        print(f"| {phase.name} | {median:.2f} | {max(taken):.2f} | {'; '.join(wrong)} |")
    sys.exit(not is_right)


if __name__ == "__main__":
    main()
