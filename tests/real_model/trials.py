"""Runs the command line against the server, and reads what it left behind."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.real_model.server import ROOT

GRACE_S = 600.0
"""After its deadline a run must have ended, even on a busy machine."""
TIERS = ("FAST", "STANDARD", "STRONG")


@dataclass(frozen=True)
class Endpoint:
    """The server under test, and how long one run may take there."""

    base_url: str
    model: str
    deadline_s: float

    def build_environment(self, home: Path) -> dict[str, str]:
        """Return the settings of a user of this server, and no other."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PYTHONUTF8": "1",
            "OPENAI_BASE_URL": self.base_url,
            "LANGSMITH_TRACING": "false",
            "SUPERVISE_DATABASE_URL": f"sqlite:///{home / 'runs.sqlite'}",
            "SUPERVISE_MAX_CONCURRENCY": "1",
            "SUPERVISE_TRACE_CONTENT": "true",
            **{f"SUPERVISE_MODEL_{tier}": f"openai:{self.model}" for tier in TIERS},
        }


@dataclass(frozen=True)
class Trial:
    """One run: a team's request, and how it is run."""

    team: str
    arguments: Sequence[str]
    """The request, then the team and the files."""
    is_killed: bool = False


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


def run_trial(trial: Trial, endpoint: Endpoint, folder: Path) -> Ending:
    """Run a trial in an empty folder, and return how it ended; its output stays there."""
    thread, began_s = "real", time.monotonic()
    limit = ["--deadline", f"{endpoint.deadline_s:g}", "--json"]
    command, before = ["run", *trial.arguments, "--thread", thread, *limit], 0
    if trial.is_killed:
        _kill_after_a_report(start(command, endpoint, folder), folder, endpoint)
        before = len(read_events(folder))
        command = ["resume", thread, *limit]
    child = start(command, endpoint, folder)
    try:
        stdout, stderr = child.communicate(timeout=endpoint.deadline_s + GRACE_S)
    except subprocess.TimeoutExpired:
        child.kill()
        stdout, stderr = child.communicate()
        stderr += "\nit did not end by itself"
    seconds = time.monotonic() - began_s
    (folder / "stdout").write_text(stdout, encoding="utf-8")
    (folder / "stderr").write_text(stderr, encoding="utf-8")
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


def start(command: Sequence[str], endpoint: Endpoint, folder: Path) -> "subprocess.Popen[str]":
    """Start the command line with the endpoint's settings, its home in the folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "graph.cli", *command],
        cwd=ROOT,
        env=endpoint.build_environment(folder),
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
