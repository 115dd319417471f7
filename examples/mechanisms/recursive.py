"""Plan a task that is too large for one worker again, as a plan of its own (`strategy: recursive`).

    python -m examples.mechanisms.recursive

The planner marks the task `coffees` as compound. When its turn comes it is divided, at most
`max_breadth` tasks wide and `max_recursion` levels deep; its report is the answer of the inner
plan. No key is needed: the models are scripted.
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

REPLIES: Replies = {
    "Plan": [
        make_plan(
            "Write the card of the café.",
            {
                "id": "coffees",
                "worker": "accountant",
                "description": "List each coffee of prices.csv and notes.md: price and origin.",
                "is_compound": True,
            },
            {
                "id": "card",
                "worker": "writer",
                "description": "Write card.md with one line for each coffee: price and origin.",
                "depends_on": ["coffees"],
            },
        ),
        make_plan(
            "List the coffees.",
            {
                "id": "prices",
                "worker": "accountant",
                "description": "List the price of each coffee of prices.csv in EUR.",
            },
            {
                "id": "origins",
                "worker": "taster",
                "description": "Find in notes.md which country each coffee comes from.",
            },
        ),
    ],
    "Answer": [
        make_answer("Huila, Colombia (notes.md): 24 EUR (prices.csv).", "prices.csv", "notes.md"),
        make_answer("Huila from Colombia, 24 EUR per kilogram (card.md).", "card.md"),
    ],
}
REPORTS: Reports = {
    "prices": [make_report("Huila costs 24 EUR per kilogram.", "prices.csv")],
    "origins": [make_report("Huila comes from Colombia.", "notes.md")],
    "card": [make_report("The card: Huila from Colombia, 24 EUR per kilogram.", "card.md")],
}


async def run_example() -> Played:
    """Run the example, and print what happens."""
    team = make_team(
        "dividing",
        {
            "accountant": "Ranks prices.",
            "taster": "Knows origins and tastes.",
            "writer": "Writes pages.",
        },
        strategy="recursive",
        max_recursion=1,
        max_breadth=3,
    )
    return await play(team, Script(REPLIES, REPORTS), "Write the card of our coffees.")


if __name__ == "__main__":
    asyncio.run(run_example())
