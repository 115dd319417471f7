"""Runs the command line against the server, and reads what it left behind."""

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graph.teams.default_team import DEFAULT_TEAM
from tests.real_model.server import ROOT

GRACE_S = 600.0
"""After its deadline a run must have ended, even on a busy machine."""
OUTPUT_LIMITS: Mapping[str, int] = {"plan": 200, "turn": 100, "report": 200, "answer": 250}
"""A model this small rarely finds its end, and each token costs time."""
TIERS = ("FAST", "STANDARD", "STRONG")


@dataclass(frozen=True)
class Endpoint:
    """The server under test, and how long one run may take there."""

    base_url: str
    model: str
    deadline_s: float
    call_timeout_s: float = 600.0
    output_limits: Mapping[str, int] = field(default_factory=lambda: OUTPUT_LIMITS)


@dataclass(frozen=True)
class Trial:
    """One command: a team's sample request, and how it is run."""

    team: str
    arguments: Sequence[str]
    """The request and its options, as `teams/README.md` has them."""
    is_plan_only: bool = False
    is_streaming: bool = False
    concurrency: int = 1
    is_killed: bool = False

    def describe(self) -> str:
        """Return how it is run, in a few words."""
        words = ["plan" if self.is_plan_only else "whole"]
        words += ["stream"] if self.is_streaming else []
        words += [f"{self.concurrency} at once"]
        return ", ".join([*words, *(["killed and resumed"] if self.is_killed else [])])


@dataclass
class Ending:
    """What a trial came to."""

    trial: Trial
    exit_code: int
    seconds: float
    stdout: str
    stderr: str
    events: Sequence[Mapping[str, Any]] = ()
    events_before_kill: int = 0

    def read_outcome(self) -> dict[str, Any]:
        """Return the JSON object on stdout; empty when there is none."""
        try:
            found = json.loads(self.stdout)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def list_events(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the events of a kind."""
        return [event for event in self.events if event.get("kind") == kind]


def list_samples() -> dict[str, list[str]]:
    """Return each team's first command in `teams/README.md`, without `supervise run`."""
    samples: dict[str, list[str]] = {}
    for line in (ROOT / "teams" / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("    supervise run "):
            words = shlex.split(line)[2:]
            team = words[words.index("--team") + 1] if "--team" in words else DEFAULT_TEAM
            samples.setdefault(team, words)
    return samples


def plan_trials(teams: Sequence[str], *, kills: bool) -> Iterator[Trial]:
    """Yield two runs for each team; over two teams each pair of properties occurs.

    The properties are: plan only or whole, streaming or not, one call at once or four.
    """
    samples = list_samples()
    for index, team in enumerate(teams):
        words, is_odd = samples[team], bool(index % 2)
        at_once = 4 if is_odd else 1
        yield Trial(team, words, is_plan_only=True, is_streaming=is_odd, concurrency=at_once)
        yield Trial(team, words, is_streaming=not is_odd, concurrency=at_once)
    if kills:
        yield Trial(teams[0], samples[teams[0]], concurrency=4, is_killed=True)


def run_trial(trial: Trial, endpoint: Endpoint, folder: Path) -> Ending:
    """Run a trial in an empty folder, and return how it ended."""
    thread, began_s = "real", time.monotonic()
    limit = ["--deadline", f"{endpoint.deadline_s:g}", "--json"]
    command = ["run", *trial.arguments, "--thread", thread, *limit]
    command += ["--plan-only"] if trial.is_plan_only else []
    before = 0
    if trial.is_killed:
        _kill_after_a_report(_start(command, trial, endpoint, folder), folder, endpoint)
        before = len(read_events(folder))
        command = ["resume", thread, *limit]
    child = _start(command, trial, endpoint, folder)
    try:
        stdout, stderr = child.communicate(timeout=endpoint.deadline_s + GRACE_S)
    except subprocess.TimeoutExpired:
        child.kill()
        stdout, stderr = child.communicate()
        stderr += "\nit did not end by itself"
    seconds = time.monotonic() - began_s
    return Ending(trial, child.returncode, seconds, stdout, stderr, read_events(folder), before)


def read_events(folder: Path) -> list[dict[str, Any]]:
    """Return the events in the trace so far; a line that is being written is left out."""
    found = list[dict[str, Any]]()
    for path in folder.rglob("traces/*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found


def _start(
    command: Sequence[str], trial: Trial, endpoint: Endpoint, folder: Path
) -> "subprocess.Popen[str]":
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONUTF8": "1",
        "OPENAI_BASE_URL": endpoint.base_url,
        "LANGSMITH_TRACING": "false",
        "SUPERVISE_DATABASE_URL": f"sqlite:///{folder / 'runs.sqlite'}",
        "SUPERVISE_MAX_CONCURRENCY": str(trial.concurrency),
        "SUPERVISE_STREAM": str(trial.is_streaming).lower(),
        "SUPERVISE_CALL_TIMEOUT_S": f"{endpoint.call_timeout_s:g}",
        "SUPERVISE_MAX_OUTPUT_TOKENS": ",".join(
            f"{purpose}={limit}" for purpose, limit in endpoint.output_limits.items()
        ),
        **{f"SUPERVISE_MODEL_{tier}": f"openai:{endpoint.model}" for tier in TIERS},
    }
    return subprocess.Popen(
        [sys.executable, "-m", "graph.cli", *command],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _kill_after_a_report(child: "subprocess.Popen[str]", folder: Path, endpoint: Endpoint) -> None:
    """Kill a run after its first report, or when half of its time is over."""
    until_s = time.monotonic() + endpoint.deadline_s / 2
    while child.poll() is None and time.monotonic() < until_s:
        if any(event.get("kind") == "report" for event in read_events(folder)):
            break
        time.sleep(0.2)
    child.kill()
    child.communicate()
