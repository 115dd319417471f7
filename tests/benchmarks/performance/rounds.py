"""Run variants side by side: a process for each, the same endpoint, shuffled rounds."""

import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.performance.limits import compute_limit_s, compute_waves_limit_s
from tests.endpoint import EndpointProcess, Scenario, run_endpoint_process

ROOT = Path(__file__).parents[3]
FOREIGN_SETTINGS = ("SUPERVISE_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_")

Row = dict[str, Any]


class RunFailed(Exception):
    """A variant could not be opened, or a run of it did not end well."""


@dataclass(frozen=True)
class Contender:
    """A variant in a process of its own."""

    name: str
    process: "subprocess.Popen[str]"

    def read_answer(self) -> Row:
        """Read a line of the process.

        Raises:
            RunFailed: the run failed, or the process has ended.
        """
        assert self.process.stdout, "asked for a pipe"
        line = self.process.stdout.readline()
        answer: Row = json.loads(line) if line else {"error": "its process ended"}
        if "error" in answer:
            raise RunFailed(answer["error"])
        return answer

    def run(self, count: int) -> Row:
        """Run the plan so many times at once.

        Raises:
            RunFailed: a run failed, or the process has ended.
        """
        assert self.process.stdin, "asked for a pipe"
        try:
            self.process.stdin.write(f"{count}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise RunFailed("its process ended") from None
        return self.read_answer()


@contextmanager
def start_contender(name: str, base_url: str, postgres_url: str) -> Iterator[Contender]:
    """Start the process of a variant; it ends with the context."""
    command = [sys.executable, "-m", "tests.benchmarks.performance.contender", name, base_url]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN_SETTINGS)}
    child = subprocess.Popen(
        [*command, *([postgres_url] if name.endswith("postgres") else [])],
        cwd=ROOT,
        env={**environment, "LANGSMITH_TRACING": "false"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:  # closes the pipes, which ends it, and waits
        yield Contender(name, child)


@dataclass(frozen=True)
class Trial:
    """A plan, how often at once, and the variants that run it."""

    plan: str
    scenario: Scenario
    variants: Sequence[str]
    runs: int = 1
    is_workflow: bool = False


def measure_trial(
    trial: Trial, *, repeat: int, draw: random.Random, postgres_urls: Sequence[str] = ()
) -> list[Row]:
    """Run each variant `repeat` times, after once that warms up; a row a run.

    A variant that fails has one row, with `error`.

    Args:
        postgres_urls: of empty schemas, one for each variant on PostgreSQL.
    """
    rows = list[Row]()
    urls = iter(postgres_urls)
    with run_endpoint_process(trial.scenario) as endpoint, ExitStack() as stack:
        contenders = list[Contender]()
        for name in trial.variants:
            url = next(urls) if name.endswith("postgres") else ""
            starting = start_contender(name, endpoint.base_url, url)
            contenders.append(stack.enter_context(starting))
        for index in range(-1, repeat):
            for contender in draw.sample(contenders, len(contenders)):
                row = {**_describe(trial, contender.name), "round": index}
                try:
                    if index < 0:
                        contender.read_answer()
                    rows.append({**row, **_measure_once(trial, contender, endpoint)})
                except RunFailed as failed:
                    rows.append({**row, "error": str(failed)})
                    contenders.remove(contender)
    return [row for row in rows if row["round"] >= 0 or "error" in row]


def _describe(trial: Trial, variant: str) -> Row:
    return {
        "plan": trial.plan,
        "variant": variant,
        "runs": trial.runs,
        "is_workflow": trial.is_workflow,
        "tasks": len(trial.scenario.tasks) * trial.runs,
        "limit_s": compute_limit_s(trial.scenario),
        "waves_limit_s": compute_waves_limit_s(trial.scenario),
    }


def _measure_once(trial: Trial, contender: Contender, endpoint: EndpointProcess) -> Row:
    processor_before_s = endpoint.clear_records()
    measured = contender.run(trial.runs)
    records = endpoint.fetch_records()
    calls = records["calls"]
    if measured["results"] != len(trial.scenario.tasks) * trial.runs:
        raise RunFailed(f"{measured['results']} results of {trial.runs} runs")
    late = [call["ended_s"] - call["began_s"] - call["latency_s"] for call in calls]
    return {
        **measured,
        "in_flight": records["max_in_flight"],
        "calls": len(calls),
        "input_bytes": statistics.mean(
            call["body_bytes"] for call in calls if call["schema"] == "Report"
        ),
        "endpoint_processor_s": records["processor_s"] - processor_before_s,
        "endpoint_late_s": statistics.median(late),
    }
