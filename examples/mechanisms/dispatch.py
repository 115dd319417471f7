"""Start each task the moment its own last input is there, and measure what that saves.

    python -m examples.mechanisms.dispatch

Six tasks need nothing and wait a second each for their model, an endpoint on this machine.
`second` needs `first`, `third` needs `second`: they run while the six wait, since no task waits for
a wave to end. `all` needs one of the six and `third`. The same plan then runs one task at a time
(`--sequential`). The speed-up is computed from the first run alone; the second measures it.
"""

from typing import Any

from examples.mechanisms.scripted import Played, make_team, show, watch
from examples.mechanisms.served import serve
from graph import build_supervisor
from state import Context
from tests.endpoint import Scenario, script_tasks

SLOW = tuple(f"slow_{number}" for number in range(1, 7))
NEEDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(SLOW, ()),
    "first": (),
    "second": ("first",),
    "third": ("second",),
    "all": (SLOW[0], "third"),
}
SECONDS = {name: 1.0 if name in SLOW else 0.2 for name in NEEDS}
SCENARIO = Scenario(tasks=script_tasks(NEEDS, latency_s=SECONDS))


async def run_example() -> dict[bool, Played]:
    """Run the plan both ways, and return both runs by whether they were one task at a time."""
    runs = {}
    async with serve(SCENARIO) as (_, settings):
        graph = build_supervisor(
            make_team("dispatching", {"researcher": "Finds figures."}), settings=settings
        )
        await graph.ainvoke({"request": SCENARIO.goal}, context=Context(max_steps=0))  # to load
        for is_sequential in (False, True):
            print("one task at a time" if is_sequential else "in parallel")
            context = Context(sequential=is_sequential)
            runs[is_sequential] = await watch(graph, SCENARIO.goal, context=context)
            print()
    _print_figures(*(runs[how].state["timing"] for how in (False, True)))
    return runs


def _print_figures(parallel: Any, sequential: Any) -> None:
    print(
        f"in parallel {parallel.wall_s:.2f} s, one task at a time {sequential.wall_s:.2f} s", end=""
    )
    print(f": {sequential.wall_s / parallel.wall_s:.2f} times as long, measured")
    print(f"speed-up as computed from the first run: {parallel.speedup:.2f}")


if __name__ == "__main__":
    show(__doc__, run_example)
