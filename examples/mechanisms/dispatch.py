"""Start each task the moment its own last input is there, and measure what that saves.

    python -m examples.mechanisms.dispatch

`slow` takes five times as long as each of the others. `second` needs `first`, `third` needs
`second`: both run while `slow` is at work, since no task waits for a wave to end. The same plan
then runs one task at a time (`--sequential`). No key is needed: the models are scripted.
"""

import asyncio

from examples.mechanisms.scripted import (
    Played,
    Script,
    make_answer,
    make_plan,
    make_report,
    make_team,
    play,
)
from state import Context

NEEDS = {
    "slow": [],
    "first": [],
    "second": ["first"],
    "third": ["second"],
    "all": ["slow", "third"],
}
SECONDS = {"slow": 1.0, "first": 0.2, "second": 0.2, "third": 0.2, "all": 0.2}


def make_script() -> Script:
    """Return the script; a worker takes as long as `SECONDS` says."""
    tasks = [
        {
            "id": name,
            "worker": "researcher",
            "description": f"Write {name}.md: name three figures of part {name}, with sources.",
            "depends_on": needed,
        }
        for name, needed in NEEDS.items()
    ]
    return Script(
        {
            "Plan": [make_plan("Compare the parts.", *tasks)],
            "Answer": [make_answer("All parts cost 42 EUR (all.md).", "all.md")],
        },
        {name: [make_report(f"Part {name} costs 42 EUR.", f"{name}.md")] for name in NEEDS},
        SECONDS,
    )


async def run_example() -> dict[bool, Played]:
    """Run the plan in parallel and one task at a time, and return both by whether they were."""
    runs = {}
    for is_sequential in (False, True):
        print("one task at a time" if is_sequential else "in parallel")
        context = Context(sequential=is_sequential)
        team = make_team("dispatching", {"researcher": "Finds figures."})
        played = await play(team, make_script(), "Compare the parts.", context=context)
        runs[is_sequential] = played
        print()
    parallel, sequential = (runs[how].state["timing"].wall_s for how in (False, True))
    print(f"in parallel {parallel:.2f} s, one task at a time {sequential:.2f} s", end="")
    print(f": {sequential / parallel:.2f} times as long")
    return runs


if __name__ == "__main__":
    asyncio.run(run_example())
