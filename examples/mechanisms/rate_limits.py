"""Share the limits of an endpoint among all runs of the process, and obey its Retry-After.

    python -m examples.mechanisms.rate_limits

Three runs of three tasks each begin at once. At most four calls are open at any moment
(`SUPERVISE_MAX_CONCURRENCY`). The first call of a worker is answered with 429 and
`Retry-After: 1`: for a second no run sends anything, also those that were not refused. Requests and
tokens per minute (`SUPERVISE_REQUESTS_PER_MINUTE`, `SUPERVISE_TOKENS_PER_MINUTE`) are shared in the
same way. The models are those of an endpoint on this machine.
"""

import asyncio
from dataclasses import dataclass

from examples.mechanisms.scripted import make_team, show
from examples.mechanisms.served import serve
from graph import build_supervisor
from tests.endpoint import Fault, Scenario, script_tasks

RUNS, MAX_CONCURRENCY, RETRY_AFTER_S = 3, 4, 1
SCENARIO = Scenario(
    tasks=script_tasks({"a": (), "b": (), "c": ()}, latency_s=0.2),
    latency_s={"Plan": 0.2, "Answer": 0.2},
    faults=(
        Fault(
            kind="rate_limited",
            schema="Report",
            nth=(1,),
            retry_after=str(RETRY_AFTER_S),
            seconds=0.1,
        ),
    ),
)


@dataclass(frozen=True)
class Observed:
    """What the endpoint saw."""

    statuses: list[str]
    """How the runs ended."""
    max_in_flight: int
    """The most calls that were open at one moment."""
    pause_s: float
    """From the refusal to the next request of any run."""


async def run_example() -> Observed:
    """Run the requests at once, and print what the endpoint saw, second by second."""
    async with serve(SCENARIO, max_concurrency=MAX_CONCURRENCY) as (endpoint, settings):
        graph = build_supervisor(
            make_team("limited", {"researcher": "Finds figures."}), settings=settings
        )
        request = {"request": "Compare the parts and say which one is best."}
        states = await asyncio.gather(*(graph.ainvoke(request) for _ in range(RUNS)))
        calls = endpoint.requests
        for call in calls:
            began_s = call.began_s - calls[0].began_s
            refused = " -> 429, Retry-After: 1" if call.fault else ""
            print(f"{began_s:5.2f} s  {call.schema} {call.task}{refused}".rstrip())
        (refused_at,) = (call.ended_s for call in calls if call.fault and call.ended_s)
        later = [call.began_s for call in calls if call.began_s > refused_at]
        seen = Observed(
            [state["status"] for state in states],
            endpoint.max_in_flight,
            min(later) - refused_at,
        )
    print(f"runs: {', '.join(seen.statuses)}; at most {seen.max_in_flight} calls were open", end="")
    print(f"; after the 429 no request for {seen.pause_s:.2f} s")
    return seen


if __name__ == "__main__":
    show(__doc__, run_example)
