"""Decide the next worker after each result, instead of planning all at once (`strategy: step`).

    python -m examples.mechanisms.step

The second task names Huila, which only the first result could show.
"""

from examples.mechanisms.scripted import Played, make_answer, make_report, make_team, play, show

TEAM = make_team(
    "steps",
    {"accountant": "Ranks prices.", "taster": "Knows origins and tastes."},
    strategy="step",
)


async def run_example() -> Played:
    """Run the example, and print what happens."""
    return await play(
        TEAM,
        "Which coffee is cheapest, and where does it come from?",
        {
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
            "Answer": make_answer(
                "Huila is cheapest, at 24 EUR per kilogram (prices.csv). It comes from Colombia "
                "(notes.md).",
                "prices.csv",
                "notes.md",
            ),
        },
        {
            "S1": make_report("Huila is cheapest, at 24 EUR per kilogram.", "prices.csv"),
            "S2": make_report("Huila comes from Colombia.", "notes.md"),
        },
    )


if __name__ == "__main__":
    show(__doc__, run_example)
