"""End a worker at its own time limit, and keep what its tools have found.

    python -m examples.mechanisms.time_limit

The worker of `cost` has two seconds, and its model takes 1.2 for each reply: it calls the tool, and
has no time left to report. The report has the reason `timeout`, and the result of the tool as what
was found; the other task is not affected. No key is needed: the models are scripted, the tool is
real.
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
from nodes.schemas.team import Limits, Worker

REPLIES: Replies = {
    "Plan": [
        make_plan(
            "Compute the cost, and name the origin.",
            {
                "id": "cost",
                "worker": "accountant",
                "description": "Compute in cost.md what 5 kilograms of Huila cost, in EUR.",
            },
            {
                "id": "origin",
                "worker": "taster",
                "description": "Find in notes.md which country Huila comes from.",
            },
        )
    ],
    "Answer": [make_answer("Huila comes from Colombia (notes.md).", "notes.md")],
}
REPORTS: Reports = {
    "cost": [
        ToolUse("calculate", {"expression": "5 * 24"}),
        make_report("5 kilograms of Huila cost 120 EUR.", "cost.md"),
    ],
    "origin": [make_report("Huila comes from Colombia.", "notes.md")],
}
LIMIT_S = 2.0


async def run_example() -> Played:
    """Run the example, and print what happens."""
    accountant = Worker(
        name="accountant",
        description="Computes prices.",
        instructions="Compute with your tool.",
        tools=("calculate",),
        limits=Limits(timeout_s=LIMIT_S),
    )
    taster = Worker(name="taster", description="Knows origins.", instructions="Read your notes.")
    team = make_team("timed", {}, workers=(accountant, taster), max_attempts=1)
    played = await play(
        team,
        Script(REPLIES, REPORTS, {"cost": 1.2}),
        "What do 5 kilograms of Huila cost, and where does it come from?",
    )
    escalation = played.state["results"]["cost"].escalation
    print(f"cost ended by {escalation.reason}, and had found: {escalation.partial}")
    return played


if __name__ == "__main__":
    asyncio.run(run_example())
