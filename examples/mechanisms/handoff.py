"""Show all that a worker's model reads: its instruction and its handoff, and nothing else.

    python -m examples.mechanisms.handoff

`card` needs `price`, and gets its result. It reads nothing of the request, of the plan, of
`origins` or of the other workers.
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


async def run_example() -> Played:
    """Run the example, and print the whole prompt of `card`."""
    played = await play(
        make_team(
            "cafe",
            {"accountant": "Finds prices.", "taster": "Knows origins.", "writer": "Writes pages."},
        ),
        "Write the card of Huila, and tell me where it comes from.",
        {
            "Plan": make_plan(
                "Write the card of Huila.",
                make_task("price", "accountant", "Find the price of Huila in prices.csv, in EUR."),
                make_task("origins", "taster", "Find in notes.md which country Huila comes from."),
                make_task(
                    "card",
                    "writer",
                    "Write card.md with one line: the price with its unit.",
                    needs=["price"],
                ),
            ),
            "Answer": make_answer(
                "Huila: 24 EUR per kilogram (card.md), from Colombia (notes.md).",
                "card.md",
                "notes.md",
            ),
        },
        {
            "price": make_report("Huila costs 24 EUR per kilogram.", "prices.csv"),
            "origins": make_report("Huila comes from Colombia.", "notes.md"),
            "card": make_report("Huila: 24 EUR per kilogram.", "card.md"),
        },
    )
    print("\nall that the model of card has read:")
    print(played.find_prompt("Report", "card"))
    return played


if __name__ == "__main__":
    show(__doc__, run_example)
