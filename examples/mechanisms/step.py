"""Decide the next worker after each result, instead of planning all at once (`strategy: step`).

    python -m examples.mechanisms.step

The second task names Huila, which only the first result could show. No key is needed: the models
are scripted.
"""

import asyncio

from examples.mechanisms.scripted import (
    Played,
    Replies,
    Reports,
    Script,
    make_answer,
    make_report,
    make_team,
    play,
)

REPLIES: Replies = {
    "Decision": [
        {
            "worker": "accountant",
            "task": "Find the cheapest coffee of prices.csv, with its price in EUR.",
            "reason": "The price decides which coffee it is.",
        },
        {
            "worker": "taster",
            "task": "Find in notes.md which country Huila comes from.",
            "reason": "Huila is the cheapest; its origin is open.",
        },
        {"is_done": True, "reason": "Price and origin are known."},
    ],
    "Answer": [
        make_answer(
            "Huila is cheapest, at 24 EUR per kilogram (prices.csv). It comes from Colombia "
            "(notes.md).",
            "prices.csv",
            "notes.md",
        )
    ],
}
REPORTS: Reports = {
    "S1": [make_report("Huila is cheapest, at 24 EUR per kilogram.", "prices.csv")],
    "S2": [make_report("Huila comes from Colombia.", "notes.md")],
}


async def run_example() -> Played:
    """Run the example, and print what happens."""
    team = make_team(
        "steps",
        {"accountant": "Ranks prices.", "taster": "Knows origins and tastes."},
        strategy="step",
    )
    request = "Which coffee is cheapest, and where does it come from?"
    return await play(team, Script(REPLIES, REPORTS), request)


if __name__ == "__main__":
    asyncio.run(run_example())
