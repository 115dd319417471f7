"""Plan a task that is too large for one worker again, as a plan of its own (`strategy: recursive`).

    python -m examples.mechanisms.recursive

The planner marks the task `coffees` as compound. When its turn comes it is divided, at most
`max_breadth` tasks wide and `max_recursion` levels deep; its report is the answer of the inner
plan.
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


async def run_example() -> Played:
    """Run the example, and print what happens."""
    outer = make_plan(
        "Write the card of the café.",
        make_task(
            "coffees",
            "accountant",
            "List each coffee of prices.csv and notes.md: price and origin.",
            is_compound=True,
        ),
        make_task(
            "card",
            "writer",
            "Write card.md with one line for each coffee: price and origin.",
            needs=["coffees"],
        ),
    )
    inner = make_plan(
        "List the coffees.",
        make_task("prices", "accountant", "List the price of each coffee of prices.csv in EUR."),
        make_task("origins", "taster", "Find in notes.md which country each coffee comes from."),
    )
    listed = "Huila, Colombia (notes.md): 24 EUR (prices.csv)."
    return await play(
        TEAM,
        "Write the card of our coffees.",
        {
            "Plan": [outer, inner],
            "Answer": [
                make_answer(listed, "prices.csv", "notes.md"),
                make_answer("Huila from Colombia, 24 EUR per kilogram (card.md).", "card.md"),
            ],
        },
        {
            "prices": make_report("Huila costs 24 EUR per kilogram.", "prices.csv"),
            "origins": make_report("Huila comes from Colombia.", "notes.md"),
            "card": make_report("The card: Huila from Colombia, 24 EUR per kilogram.", "card.md"),
        },
    )


if __name__ == "__main__":
    show(__doc__, run_example)
