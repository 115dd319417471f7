"""Records of real runs, and what a test or an attacker makes of them."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from extensions.replay.record_file import RecordUnreadable, read_record
from extensions.replay.replayer import Replayed, replay_record
from extensions.replay.tape import ReplayMissed
from graph import aresume, arun
from graph.runs.trace import get_record_path
from graph.settings import Settings
from nodes.errors import SupervisorError
from nodes.schemas.team import Team
from state import Context
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.teams import make_team

Line = dict[str, Any]
ROOT = Path(__file__).resolve().parents[4]
REQUEST = "Compare the parts and say which one is best."
TASKS = (
    ScriptedTask(id="A", tool_calls=(("calculate", {"expression": "3*4"}),)),
    ScriptedTask(id="B", depends_on=("A",)),
)


def make_counting_team() -> Team:
    """Make the test team, whose researcher calculates."""
    team = make_team()
    first = team.workers[0].model_copy(update={"tools": ("calculate",)})
    return team.model_copy(update={"workers": (first, *team.workers[1:])})


async def record_run(folder: Path, *, asks: bool = True) -> Path:
    """Run with a tool call, a material, a question and its answer; return the record's path."""
    async with Endpoint(Scenario(tasks=TASKS)) as endpoint:
        settings = Settings(
            openai_base_url=endpoint.base_url,
            openai_api_key="sk-test-0123456789abcdef",
            model_fast="openai:gpt-5-mini",
            model_standard="openai:gpt-5-mini",
            model_strong="openai:gpt-5",
            database_url=f"sqlite:///{folder / 'runs.sqlite'}",
        )
        how: Any = {"settings": settings, "thread": "kept", "context": Context(approve_plan=asks)}
        materials = {"m.md": "The price of a part is 42 euros.\n" * 60}
        outcome = await arun(REQUEST, team=make_counting_team(), materials=materials, **how)
        if asks:
            outcome = await aresume("kept", answer="yes", settings=settings)
    assert outcome.status == "done"
    return get_record_path("kept", settings)


def read_entries(path: Path) -> list[Line]:
    """Return the values of a record's lines."""
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def write_entries(path: Path, lines: Sequence[Any]) -> Path:
    """Write lines as a record: values as JSON, and texts as they are."""
    written = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_bytes(gzip.compress("\n".join([*written, ""]).encode("utf-8", "surrogatepass"), 1))
    return path


def find_entry(lines: Sequence[Line], key: str, number: int = 0) -> Line:
    """Return one of the entries that have a key."""
    return [line for line in lines if key in line][number]


def list_places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to each value within a value."""
    if place:
        yield place
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield from list_places(value[key], (*place, key))


def replay_file(path: Path, **how: Any) -> Replayed:
    """Replay a record, and make all that is made of a replay."""
    done = replay_record(read_record(path), **how)
    done.build_trace()
    json.dumps(done.to_json())
    return done


def try_replay(path: Path) -> Replayed | SupervisorError:
    """Replay a record: it succeeds, or ends with an error of one line."""
    try:
        return replay_file(path)
    except (RecordUnreadable, ReplayMissed) as error:
        line = error.format_line()
        assert "\n" not in line and line.isprintable() and len(line) < 1_000
        assert error.exit_code == (2 if isinstance(error, RecordUnreadable) else 3)
        return error


def watch_replays(first: Path, *paths: Path, module_folder: Path | None = None) -> dict[str, Any]:
    """Replay records in a process that tells of sockets, processes, imports and files.

    Args:
        first: is replayed before, unwatched.
        module_folder: from which modules could be imported.
    """
    named = [sys.executable, "-m", "tests.unit.extensions.replay.watched_replays", str(first)]
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(module_folder or ROOT)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_API_KEY": "lsv2_pt_0123456789abcdef",
        "LANGSMITH_ENDPOINT": "http://127.0.0.1:9",
    }
    ran = subprocess.run(
        [*named, *map(str, paths)],
        cwd=first.parent,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ran.returncode == 0, ran.stderr[-2_000:]
    found: dict[str, Any] = json.loads(ran.stdout)
    return found
