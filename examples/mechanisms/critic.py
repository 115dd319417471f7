"""Review the answer before delivery, and send a task back (`critic: on`).

    python -m examples.mechanisms.critic

The critic finds no unit in the answer and sends the task `prices` back with what to fix. The task
runs again, and so does `card`, which needs it; `origins` keeps its result. The second answer is
accepted. At most `max_critic_rounds` reviews may send tasks back. No key is needed: the models are
scripted.
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
            "Write the card of Huila.",
            {
                "id": "prices",
                "worker": "accountant",
                "description": "Find the price of Huila in prices.csv, with its unit.",
            },
            {
                "id": "origins",
                "worker": "taster",
                "description": "Find in notes.md which country Huila comes from.",
            },
            {
                "id": "card",
                "worker": "writer",
                "description": "Write card.md with one line on Huila: price and origin.",
                "depends_on": ["prices", "origins"],
            },
        )
    ],
    "Answer": [
        make_answer("Huila from Colombia, 24 (card.md).", "card.md"),
        make_answer("Huila from Colombia, 24 EUR per kilogram (card.md).", "card.md"),
    ],
    "Critique": [
        {
            "accepted": False,
            "problems": ["The price has no unit."],
            "send_back": [{"task": "prices", "fix": "Name currency and weight of the price."}],
        },
        {"accepted": True},
    ],
}
REPORTS: Reports = {
    "prices": [
        make_report("Huila costs 24.", "prices.csv"),
        make_report("Huila costs 24 EUR per kilogram.", "prices.csv"),
    ],
    "origins": [make_report("Huila comes from Colombia.", "notes.md")],
    "card": [
        make_report("Huila from Colombia, 24.", "card.md"),
        make_report("Huila from Colombia, 24 EUR per kilogram.", "card.md"),
    ],
}


async def run_example() -> Played:
    """Run the example, and print what happens."""
    team = make_team(
        "reviewing",
        {
            "accountant": "Finds prices.",
            "taster": "Knows origins and tastes.",
            "writer": "Writes pages.",
        },
        critic="on",
        max_critic_rounds=1,
    )
    return await play(team, Script(REPLIES, REPORTS), "Write the card of Huila.")


if __name__ == "__main__":
    asyncio.run(run_example())
