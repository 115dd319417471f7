"""Show all that a worker's model reads and may call, and who has no tools at all.

    python -m examples.mechanisms.handoff

`price` has a tool. `card` needs `price`, and gets its result; it reads its instruction and its
handoff, and nothing of the request, of the plan, of `origins` or of the other workers. Planner and
synthesizer have prompts of their own and no tools.
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
from nodes.schemas.team import Worker

WORKERS = tuple(
    Worker(name=name, description=does, instructions=does, tools=tools)
    for name, does, tools in (
        ("accountant", "Find prices.", ("calculate",)),
        ("taster", "Name origins.", ()),
        ("writer", "Write pages.", ()),
    )
)


async def run_example() -> Played:
    """Run the example, and print the whole prompt of `card`, and the tools of each call."""
    played = await play(
        make_team("cafe", {}, workers=WORKERS),
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
    print("\ntools on offer, by what was asked for:")
    for call in played.script.calls:
        print(f"  {call.schema} {call.task}".rstrip(), ", ".join(call.tools) or "none", sep=": ")
    return played


if __name__ == "__main__":
    show(__doc__, run_example)
