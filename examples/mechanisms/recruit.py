"""Make a specialist for a task that fits no worker of the team (`recruit: true`).

    python -m examples.mechanisms.recruit

The planner gives such a task to `specialist`. One more model call creates it: a role, an
instruction, and tools of the team's `grant`. Here the model also asks for `query_database`, which
was not granted, and does not get it. No key is needed: the models are scripted, the tool is real.
"""

import asyncio

from examples.mechanisms.scripted import (
    Played,
    Replies,
    Reports,
    Script,
    ToolUse,
    make_answer,
    make_plan,
    make_report,
    make_team,
    play,
)

REPLIES: Replies = {
    "Plan": [
        make_plan(
            "Price a cup of Huila.",
            {
                "id": "price",
                "worker": "accountant",
                "description": "Find the price of Huila per kilogram in prices.csv, in EUR.",
            },
            {
                "id": "cup",
                "worker": "specialist",
                "description": "Calculate what the beans of one cup (7 g) of Huila cost, in EUR.",
                "depends_on": ["price"],
            },
        )
    ],
    "Recruit": [
        {
            "role": "cost estimator",
            "instructions": "Calculate costs step by step, and name the price each rests on.",
            "tools": ["calculate", "query_database"],
        }
    ],
    "Answer": [make_answer("The beans of a cup of Huila cost 0.17 EUR (cost.md).", "cost.md")],
}
REPORTS: Reports = {
    "price": [make_report("Huila costs 24 EUR per kilogram.", "prices.csv")],
    "cup": [
        ToolUse("calculate", {"expression": "round(24.0 * 0.007, 2)"}),
        make_report("The beans of a cup of Huila cost 0.17 EUR.", "cost.md"),
    ],
}


async def run_example() -> Played:
    """Run the example, and print what happens."""
    team = make_team(
        "recruiting", {"accountant": "Ranks prices."}, recruit=True, grant=("calculate",)
    )
    return await play(team, Script(REPLIES, REPORTS), "What do the beans of a cup of Huila cost?")


if __name__ == "__main__":
    asyncio.run(run_example())
