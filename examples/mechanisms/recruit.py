"""Make a specialist for a task that fits no worker of the team (`recruit: true`).

    python -m examples.mechanisms.recruit

The planner gives such a task to `specialist`. One more model call creates it: a role, an
instruction, and tools of the team's `grant`. Here the model also asks for `query_database`, which
was not granted, and does not get it. The tool is a real one.
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
from examples.mechanisms.scripted_model import ToolUse

TEAM = make_team("recruiting", {"accountant": "Ranks prices."}, recruit=True, grant=("calculate",))


async def run_example() -> Played:
    """Run the example, and print what happens."""
    played = await play(
        TEAM,
        "What do the beans of a cup of Huila cost?",
        {
            "Plan": make_plan(
                "Price a cup of Huila.",
                make_task(
                    "price",
                    "accountant",
                    "Find the price of Huila per kilogram in prices.csv, in EUR.",
                ),
                make_task(
                    "cup",
                    "specialist",
                    "Calculate what the beans of one cup (7 g) of Huila cost, in EUR.",
                    needs=["price"],
                ),
            ),
            "Recruit": {
                "role": "cost estimator",
                "instructions": "Calculate costs step by step, and name the price each rests on.",
                "tools": ["calculate", "query_database"],
            },
            "Answer": make_answer(
                "The beans of a cup of Huila cost 0.17 EUR (cost.md).", "cost.md"
            ),
        },
        {
            "price": make_report("Huila costs 24 EUR per kilogram.", "prices.csv"),
            "cup": [
                ToolUse("calculate", {"expression": "round(24.0 * 0.007, 2)"}),
                make_report("The beans of a cup of Huila cost 0.17 EUR.", "cost.md"),
            ],
        },
    )
    (recruited,) = played.select_events("recruited")
    print(f"asked for and not granted: {', '.join(recruited['refused'])}")
    return played


if __name__ == "__main__":
    show(__doc__, run_example)
