"""Give a task to another team: a supervisor below the supervisor.

    python -m examples.mechanisms.nested

The worker `buyers` is a team. Its task becomes a request to that team's own supervisor, which
plans, delegates and answers; the answer is the task's report. The inner task `origins` fails, so
that the report is partial, and the top supervisor's answer names the gap.
"""

from examples.mechanisms.scripted import (
    Played,
    make_answer,
    make_failure,
    make_plan,
    make_report,
    make_task,
    make_team,
    play,
    show,
)
from nodes.schemas.team import Team, Worker


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
    outer = make_plan(
        "Write the card of the café.",
        make_task(
            "coffee", "buyers", "Name the cheapest coffee of prices.csv, its price and its origin."
        ),
        make_task(
            "card",
            "writer",
            "Write card.md with one line on the coffee: price and origin.",
            needs=["coffee"],
        ),
    )
    inner = make_plan(
        "Name the cheapest coffee.",
        make_task(
            "prices", "accountant", "Find the cheapest coffee of prices.csv, with its price in EUR."
        ),
        make_task("origins", "taster", "Find in notes.md which country each coffee comes from."),
    )
    return await play(
        make_cafe(),
        "Write the card for our cheapest coffee.",
        {
            "Plan": [outer, inner],
            "Answer": [
                make_answer("Huila is cheapest, at 24 EUR (prices.csv).", "prices.csv"),
                make_answer("Huila, 24 EUR per kilogram (card.md).", "card.md"),
            ],
        },
        {
            "prices": make_report("Huila is cheapest, at 24 EUR per kilogram.", "prices.csv"),
            "origins": make_failure("notes.md names no country."),
            "card": make_report("Huila, 24 EUR per kilogram.", "card.md"),
        },
    )


if __name__ == "__main__":
    show(__doc__, run_example)
