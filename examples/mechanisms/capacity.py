"""Spread requests over workers that can all do them, by load and by recent latency.

    python -m examples.mechanisms.capacity

Three desks can answer the same requests, one at a time each, and each is the fallback of the one
before it. The router always chooses `north`; `west` needs four times as long as the others.
Requests arrive every 200 ms and are run twice: by the router's choice alone (`prefer_idle: false`),
then by load (`prefer_idle: true`).
"""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from langchain_core.tools import BaseTool, tool

from examples.mechanisms.scripted import show
from graph import build_supervisor
from graph.settings import Settings
from nodes.schemas.team import Team, Worker

SECONDS = {"north": 0.5, "east": 0.5, "west": 2.0}
"""What an answer takes at each desk."""
REQUESTS = 9
INTERVAL_S = 0.2


def build_desk_tool(desk: str) -> BaseTool:
    """Build the tool of a desk that serves one request at a time."""
    slot = asyncio.Semaphore(1)

    @tool(f"ask_{desk}")
    async def ask() -> dict[str, Any]:
        """Return the opening hours."""
        async with slot:
            await asyncio.sleep(SECONDS[desk])
        return {"summary": f"The {desk} desk says: open from 9 to 17."}

    return ask


ask_north, ask_east, ask_west = map(build_desk_tool, SECONDS)


def make_desks(*, prefer_idle: bool) -> Team:
    """Return a team of three workers that can all answer the same requests."""
    desks = list(SECONDS)
    workers = tuple(
        Worker(
            name=desk,
            description="Answers requests on opening hours.",
            instructions="Answer with your tool.",
            tools=(f"{__name__}:ask_{desk}",),
            fallback="".join(desks[number + 1 : number + 2]),
        )
        for number, desk in enumerate(desks)
    )
    return Team(
        name="by_load" if prefer_idle else "by_choice",
        description="Three desks.",
        guidance="Any desk can take any request.",
        strategy="route",
        prefer_idle=prefer_idle,
        workers=workers,
    )


@dataclass(frozen=True)
class Served:
    """A request that was answered."""

    worker: str
    seconds: float
    """From the request to its answer."""


async def serve_requests(*, prefer_idle: bool) -> list[Served]:
    """Run all requests, and return who answered each, in the order in which they came."""
    graph = build_supervisor(make_desks(prefer_idle=prefer_idle), settings=Settings())

    async def serve(number: int) -> Served:
        await asyncio.sleep(number * INTERVAL_S)
        began = time.monotonic()
        state = await graph.ainvoke({"request": "When are you open?"})
        (report,) = state["results"].values()
        return Served(report.worker, time.monotonic() - began)

    return list(await asyncio.gather(*map(serve, range(REQUESTS))))


async def run_example() -> None:
    """Print who answered, and how long the requests took."""
    for prefer_idle in (False, True):
        served = await serve_requests(prefer_idle=prefer_idle)
        counts = Counter(each.worker for each in served)
        mean_s = sum(each.seconds for each in served) / len(served)
        shares = ", ".join(f"{desk} {counts[desk]}" for desk in SECONDS)
        print(f"prefer_idle: {str(prefer_idle).lower()}")
        print(f"  in order: {' '.join(each.worker for each in served)}")
        print(f"  requests: {shares}; {mean_s:.2f} s on average")


if __name__ == "__main__":
    show(__doc__, run_example)
