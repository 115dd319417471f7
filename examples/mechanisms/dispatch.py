"""Start each task the moment its own last input is there, and measure what that saves.

    python -m examples.mechanisms.dispatch

`slow` takes five times as long as each of the others. `second` needs `first`, `third` needs
`second`: both run while `slow` is at work, since no task waits for a wave to end. The same plan
then runs one task at a time (`--sequential`).
"""

from examples.mechanisms.scripted import (
    Played,
    make_answer,
    make_plan,
    make_report,
    make_task,
    make_team,
    play,
    show,
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


async def run_plan(*, is_sequential: bool) -> Played:
    """Run the plan in parallel, or one task at a time; a worker takes as long as `SECONDS` says."""
    tasks = [
        make_task(
            name,
            "researcher",
            f"Write {name}.md: name three figures of part {name}, with sources.",
            needs=needed,
        )
        for name, needed in NEEDS.items()
    ]
    return await play(
        make_team("dispatching", {"researcher": "Finds figures."}),
        "Compare the parts.",
        {
            "Plan": make_plan("Compare the parts.", *tasks),
            "Answer": make_answer("All parts cost 42 EUR (all.md).", "all.md"),
        },
        {name: make_report(f"Part {name} costs 42 EUR.", f"{name}.md") for name in NEEDS},
        seconds=SECONDS,
        context=Context(sequential=is_sequential),
    )


async def run_example() -> dict[bool, Played]:
    """Run the plan both ways, and return both runs by whether they were one task at a time."""
    runs = {}
    for is_sequential in (False, True):
        print("one task at a time" if is_sequential else "in parallel")
        runs[is_sequential] = await run_plan(is_sequential=is_sequential)
        print()
    parallel, sequential = (runs[how].state["timing"].wall_s for how in (False, True))
    print(f"in parallel {parallel:.2f} s, one task at a time {sequential:.2f} s", end="")
    print(f": {sequential / parallel:.2f} times as long")
    return runs


if __name__ == "__main__":
    show(__doc__, run_example)
