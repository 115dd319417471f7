"""Review the answer before delivery, and send a task back (`critic: on`).

    python -m examples.mechanisms.critic

The critic finds no unit in the answer and sends the task `prices` back with what to fix. The task
runs again, and so does `card`, which needs it; `origins` keeps its result. The second answer is
accepted. At most `max_critic_rounds` reviews may send tasks back. All calls that the critic causes
are counted as its own: two reviews, two tasks again, the second answer.
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

TEAM = make_team(
    "reviewing",
    {
        "accountant": "Finds prices.",
        "taster": "Knows origins and tastes.",
        "writer": "Writes pages.",
    },
    critic="on",
    max_critic_rounds=1,
)


async def run_example() -> Played:
    """Run the example, and print what happens."""
    return await play(
        TEAM,
        "Write the card of Huila.",
        {
            "Plan": make_plan(
                "Write the card of Huila.",
                make_task(
                    "prices", "accountant", "Find the price of Huila in prices.csv, with its unit."
                ),
                make_task("origins", "taster", "Find in notes.md which country Huila comes from."),
                make_task(
                    "card",
                    "writer",
                    "Write card.md with one line on Huila: price and origin.",
                    needs=["prices", "origins"],
                ),
            ),
            "Answer": [
                make_answer("Huila from Colombia, 24 (card.md).", "card.md"),
                make_answer("Huila from Colombia, 24 EUR per kilogram (card.md).", "card.md"),
            ],
            "Critique": [
                {
                    "accepted": False,
                    "problems": ["The price has no unit."],
                    "send_back": [
                        {"task": "prices", "fix": "Name currency and weight of the price."}
                    ],
                },
                {"accepted": True},
            ],
        },
        {
            "prices": [
                make_report("Huila costs 24.", "prices.csv"),
                make_report("Huila costs 24 EUR per kilogram.", "prices.csv"),
            ],
            "origins": make_report("Huila comes from Colombia.", "notes.md"),
            "card": [
                make_report("Huila from Colombia, 24.", "card.md"),
                make_report("Huila from Colombia, 24 EUR per kilogram.", "card.md"),
            ],
        },
    )


if __name__ == "__main__":
    show(__doc__, run_example)
