"""Give a task to another team: a supervisor below the supervisor.

    python -m examples.mechanisms.nested

The worker `buyers` is a team. Its task becomes a request to that team's own supervisor, which
plans, delegates and answers; the answer is the task's report. The inner task `origins` fails, so
that the report is partial, and the top supervisor's answer names the gap. No key is needed: the
models are scripted.
"""

import asyncio

from examples.mechanisms.scripted import (
    Played,
    Replies,
    Reports,
    Script,
    make_answer,
    make_plan,
    make_report,
    make_team,
    play,
)
from nodes.schemas.team import Team, Worker

REPLIES: Replies = {
    "Plan": [
        make_plan(
            "Write the card of the café.",
            {
                "id": "coffee",
                "worker": "buyers",
                "description": "Name the cheapest coffee of prices.csv, its price and its origin.",
            },
            {
                "id": "card",
                "worker": "writer",
                "description": "Write card.md with one line on the coffee: price and origin.",
                "depends_on": ["coffee"],
            },
        ),
        make_plan(
            "Name the cheapest coffee.",
            {
                "id": "prices",
                "worker": "accountant",
                "description": "Find the cheapest coffee of prices.csv, with its price in EUR.",
            },
            {
                "id": "origins",
                "worker": "taster",
                "description": "Find in notes.md which country each coffee comes from.",
            },
        ),
    ],
    "Answer": [
        make_answer("Huila is cheapest, at 24 EUR (prices.csv).", "prices.csv"),
        make_answer("Huila, 24 EUR per kilogram (card.md).", "card.md"),
    ],
}
REPORTS: Reports = {
    "prices": [make_report("Huila is cheapest, at 24 EUR per kilogram.", "prices.csv")],
    "origins": [{"status": "failed", "output": "notes.md names no country."}],
    "card": [make_report("Huila, 24 EUR per kilogram.", "card.md")],
}


def make_cafe() -> Team:
    """Return a team, one worker of which is a team."""
    buyers = make_team(
        "coffee_buyers",
        {"accountant": "Ranks prices.", "taster": "Knows origins and tastes."},
        max_attempts=1,
    )
    writer = Worker(name="writer", description="Writes pages.", instructions="Write.")
    inner = Worker(name="buyers", description="Compare coffees.", team=buyers)
    return make_team("cafe", {}, workers=(inner, writer), max_attempts=1)


async def run_example() -> Played:
    """Run the example, and print what happens."""
    request = "Write the card for our cheapest coffee."
    return await play(make_cafe(), Script(REPLIES, REPORTS), request)


if __name__ == "__main__":
    asyncio.run(run_example())
