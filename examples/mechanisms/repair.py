"""Refuse a bad plan before it runs, and let the planner repair it.

    python -m examples.mechanisms.repair

The first plan has a cycle; the second names a worker that the team does not have, and a task too
vague to be done. Each is refused with its faults, which the planner reads with its next call, at
most `max_plan_repairs` times. The third plan is valid, and only that one runs.
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

PRICE = "Find the price of Huila in prices.csv, in EUR per kilogram."
LINE = "Write card.md with one line on Huila: the price with its unit."
GOAL = "Write the card of Huila."


async def run_example() -> Played:
    """Run the example, and print what happens."""
    with_a_cycle = make_plan(
        GOAL,
        make_task("price", "accountant", PRICE, needs=["card"]),
        make_task("card", "writer", LINE, needs=["price"]),
    )
    with_two_faults = make_plan(
        GOAL,
        make_task("price", "accountant", "Analyze the data."),
        make_task("card", "printer", LINE, needs=["price"]),
    )
    valid = make_plan(
        GOAL,
        make_task("price", "accountant", PRICE),
        make_task("card", "writer", LINE, needs=["price"]),
    )
    played = await play(
        make_team("repairing", {"accountant": "Finds prices.", "writer": "Writes pages."}),
        GOAL,
        {
            "Plan": [with_a_cycle, with_two_faults, valid],
            "Answer": make_answer("Huila: 24 EUR per kilogram (card.md).", "card.md"),
        },
        {
            "price": make_report("Huila costs 24 EUR per kilogram.", "prices.csv"),
            "card": make_report("Huila: 24 EUR per kilogram.", "card.md"),
        },
    )
    told = played.find_prompt("Plan", number=2).rpartition("<problems>")[2]
    print(f"what the planner reads of its second plan:\n{told.partition('</problems>')[0].strip()}")
    return played


if __name__ == "__main__":
    show(__doc__, run_example)
