"""Count how many recorded runs a replay repeats: plan, reports, answer, bill and trace, no socket.

    python -m tests.benchmarks.replays [--runs 300] [--shuffles 20] [--seed 1] [--verbose]

Each run is of one of the shipped teams, with one of the four strategies, made against the endpoint
simulator in a process of its own: with faults on the wire, tool calls, reports that lead to another
attempt or another plan, deadlines and budgets that cut it, and, of a third of them, kills
(SIGKILL) and resumes. Then its record is replayed where opening a socket or a process is an error,
and some of them again and again with what ends at one time ending in another order.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from graph.runs.runner import aresume, arun
from graph.runs.trace import get_record_path
from graph.teams.team_loader import list_teams, load_team
from nodes.errors import SupervisorError
from nodes.schemas.team import Team
from state import Context
from supervisor_worker.testing.endpoint.faults import FaultKind
from tests.benchmarks.at_endpoint import build_settings
from tests.benchmarks.options import read_options
from tests.benchmarks.performance.plans import make_random_plan
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask

THREAD = "recorded"
STRATEGIES = ("plan", "route", "step", "recursive")
FAULTS: tuple[FaultKind, ...] = (
    *("rate_limited", "server_error", "reset", "cut_stream", "broken_json", "empty", "no_choices"),
    *("length", "broken_arguments", "prose", "no_usage", "null_content", "html", "hang"),
)
FORBIDDEN = ("socket.connect", "socket.getaddrinfo", "socket.bind", "subprocess.Popen")
HANG_S = 60.0


@dataclass
class ReplayTrial:
    """One run and its replays."""

    seed: int
    team: str
    strategy: str
    kills: int = 0
    status: str = ""
    run_s: float = 0.0
    replay_s: float = 0.0
    record_bytes: int = 0
    stored_bytes: int = 0
    is_equal: bool = False
    shuffled: int = 0
    opened: list[str] = field(default_factory=list)
    problem: str = ""


def run_trial(seed: int, shuffles: int) -> ReplayTrial:
    """Make a run, perhaps with kills, and replay it."""
    draw = random.Random(seed)
    teams = list_teams(build_settings(Path()))
    folder = teams[seed % len(teams)]
    trial = ReplayTrial(seed, folder.name, STRATEGIES[(seed // len(teams)) % len(STRATEGIES)])
    place = Path(tempfile.mkdtemp(prefix="replays-"))
    try:
        scenario, context = _draw_run(draw, load_team(folder), trial.strategy)
        kills = draw.choice((0, 0, 1, 2))
        begun = time.monotonic()
        for kill in range(kills + 1):
            limit_s = draw.uniform(0.15, 1.0) if kill < kills else HANG_S
            work = _start_work(place, folder, scenario, context, is_first=kill == 0)
            _, was_killed = _run_child(work, limit_s)
            trial.kills += was_killed
            if not was_killed:
                break
        trial.run_s = time.monotonic() - begun
        said, was_killed = _run_child(lambda: _replay(place, shuffles, seed), HANG_S)
        found = json.loads(said) if said else {"problem": "the replay hangs or crashed"}
        for name, value in found.items():
            setattr(trial, name, value)
        files = [path for path in place.rglob("*") if path.is_file()]
        trial.stored_bytes = sum(path.stat().st_size for path in files)
    except Exception:
        trial.problem = traceback.format_exc()[-600:]
    finally:
        if trial.is_equal or not os.environ.get("KEEP_FAILED"):
            shutil.rmtree(place, ignore_errors=True)
        else:
            trial.problem += f" kept in {place}"
    return trial


def _draw_run(draw: random.Random, team: Team, strategy: str) -> tuple[Scenario, Context]:
    workers = [each.name for each in team.workers]
    plan = make_random_plan(draw.randint(2, 9), seed=draw.randint(0, 10**6), mean_s=0.08)
    tasks = []
    for task in plan.tasks:
        calls: tuple[tuple[str, dict[str, Any]], ...] = ()
        if draw.random() < 0.3:
            calls = (("calculate", {"expression": f"{draw.randint(1, 99)}*3"}),)
        tasks.append(
            replace(
                task,
                worker=draw.choice(workers),
                tool_calls=calls,
                report=_draw_report(draw, task),
            )
        )
    faults = tuple(
        Fault(kind=draw.choice(FAULTS), share=draw.choice((0.1, 0.3)), seconds=0.02)
        for _ in range(draw.choice((0, 0, 1, 2)))
    )
    answers: dict[str, Any] = {
        "Decision": {"worker": draw.choice(workers), "needs_plan": draw.random() < 0.5},
        "PlanReview": {"makes_sense": draw.random() < 0.5, "reason": "It may be otherwise."},
    }
    latency_s = {"Plan": 0.1, "Answer": 0.05, "*": 0.02}
    scenario = replace(
        plan, tasks=tuple(tasks), faults=faults, answers=answers, latency_s=latency_s
    )
    caps: dict[str, Any] = {}
    if draw.random() < 0.2:
        caps["deadline_s"] = draw.choice((0.5, 1.0))
    if draw.random() < 0.2:
        caps["max_tokens"] = draw.choice((6_000, 20_000))
    if draw.random() < 0.2:
        caps["max_concurrency"] = 2
    return scenario, Context(strategy=strategy, **caps)  # type: ignore[arg-type]  # one of four


def _draw_report(draw: random.Random, task: ScriptedTask) -> Any:
    good = {
        "status": "completed",
        "output": f"Part {task.id} costs {draw.randint(10, 99)} euros.",
        "claims": [{"text": f"Part {task.id} costs 42 euros.", "source": f"{task.id}.md"}],
        "confidence": draw.choice((40, 90)),
    }
    escalation = {"reason": "out_of_scope", "message": "This is another worker's."}
    return draw.choice(
        (
            *(good,) * 5,
            [{**good, "status": "failed", "output": "no source"}, good],
            {**good, "found_as_expected": False, "output": "There is no such part."},
            {**good, "status": "escalated", "escalation": escalation},
        )
    )


def _start_work(
    place: Path, folder: Path, scenario: Scenario, context: Context, *, is_first: bool
) -> Callable[[], str]:
    """Return what begins the run, or resumes it, in a child."""

    async def work() -> str:
        async with Endpoint(scenario) as endpoint:
            settings = build_settings(place, endpoint.base_url, call_timeout_s=0.7)
            log = get_record_path(THREAD, settings).with_suffix(".jsonl")
            options: dict[str, Any] = {"settings": settings, "context": context}
            if is_first or not log.exists() or not log.stat().st_size:
                request = "Compare the parts and say which one is best."
                outcome = await arun(request, team=folder, thread=THREAD, **options)
            else:
                outcome = await aresume(THREAD, settings=settings)
            return outcome.status

    return lambda: asyncio.run(work())


def _replay(place: Path, shuffles: int, seed: int) -> str:
    """Replay the record, where nothing may be opened; return what was found as JSON."""
    from extensions.replay.record_file import read_record
    from extensions.replay.replayer import replay_record

    path = get_record_path(THREAD, build_settings(place))
    opened = list[str]()
    sys.addaudithook(lambda event, _: opened.append(event) if event in FORBIDDEN else None)
    found: dict[str, Any] = {"record_bytes": path.stat().st_size}
    try:
        record = read_record(path)
        done = replay_record(record)
        found |= {
            "is_equal": done.is_equal,
            "replay_s": done.seconds,
            "status": str((record.segments[-1].ended or {}).get("status", "killed")),
        }
        if done.differing:
            found["problem"] = f"differs in {', '.join(done.differing)}"
        for number in range(shuffles):
            other = replay_record(record, shuffle=random.Random(1_000 * seed + number))
            found["shuffled"] = found.get("shuffled", 0) + other.is_equal
    except SupervisorError as error:
        found["problem"] = error.format_line()
    except Exception:
        found["problem"] = traceback.format_exc()[-900:]
    return json.dumps(found | {"opened": opened})


def _run_child(work: Callable[[], str], limit_s: float) -> tuple[str, bool]:
    """Return what work returns in a child, and whether it was killed at the limit."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = ""
        try:
            os.close(reading)
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, 2)
            said = work()
        except BaseException:
            said = json.dumps({"problem": traceback.format_exc()[-900:]})
        finally:
            os.write(writing, said.encode()[:60_000])
            os._exit(0)
    os.close(writing)
    ends, was_killed = time.monotonic() + limit_s, False
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > ends:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            was_killed = True
            break
        time.sleep(0.005)
    with os.fdopen(reading) as pipe:
        return pipe.read(), was_killed


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--shuffles", type=int, default=20, help="of every tenth run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", action="store_true")
    options = read_options(parser, "runs", "shuffles")
    seeds = range(options.seed, options.seed + options.runs)
    trials = list[ReplayTrial]()
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        shuffles = [options.shuffles if seed % 10 == 0 else 0 for seed in seeds]
        for trial in pool.map(run_trial, seeds, shuffles):
            trials.append(trial)
            if trial.problem or options.verbose:
                print(json.dumps(asdict(trial)), flush=True)
    equal = sum(each.is_equal for each in trials)
    shuffled, wanted = sum(each.shuffled for each in trials), sum(shuffles)
    print(
        f"{equal} of {len(trials)} replays equal, {sum(len(each.opened) for each in trials)} opened"
    )
    print(f"{shuffled} of {wanted} equal with another order; kills: {sum(e.kills for e in trials)}")
    print(f"teams {len({each.team for each in trials})}, {dict(Counter(e.status for e in trials))}")
    speeds = sorted(each.run_s / each.replay_s for each in trials if each.replay_s)
    sizes = sum(each.record_bytes for each in trials) / max(1, sum(e.stored_bytes for e in trials))
    print(f"faster than the run: median {speeds[len(speeds) // 2]:.1f}" if speeds else "")
    print(f"record: {sizes:.1%} of all that was stored")


if __name__ == "__main__":
    main()
