"""The process of a system: a JSON line on stdin asks for a run, a JSON line on stdout answers."""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.benchmarks.versus.work import DOCUMENTS


@dataclass(frozen=True)
class Order:
    """A run to make, or to continue."""

    base_url: str
    thread: str
    folder: Path
    is_resumed: bool = False


@dataclass(frozen=True)
class Returned:
    """What a system returned: its answer, and all that it says beside the models' words."""

    answer: str
    marks: list[str] = field(default_factory=list)
    """Doubts and gaps that the system itself names."""
    status: str = ""


Run = Callable[[Order], Awaitable[Returned]]


def read_offer(name: str) -> str:
    """Return the words of an offer, by its name, such as north.md."""
    return DOCUMENTS.get(name) or f"There is no {name}; there are {', '.join(DOCUMENTS)}."


async def answer_orders(run: Run, folder: Path) -> None:
    """Make runs until stdin is closed."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        asked: dict[str, Any] = json.loads(line)
        began_s = time.perf_counter()
        try:
            answer = asdict(await run(Order(folder=folder, **asked)))
        except Exception as error:  # what a user of the system would see
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({**answer, "wall_s": time.perf_counter() - began_s}), flush=True)


def serve(run: Run, *distributions: str) -> None:
    """Serve a system, and name the versions of the packages that it is made of."""
    versions = {name: version(name) for name in distributions}
    print(json.dumps({"versions": versions}), flush=True)
    asyncio.run(answer_orders(run, Path(sys.argv[1])))
