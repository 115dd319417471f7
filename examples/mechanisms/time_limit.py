"""End a worker at its own time limit, and keep what its tools have found.

    python -m examples.mechanisms.time_limit

The worker of `cost` has two seconds, and its model takes 1.2 for each reply: it calls the tool, and
has no time left to report. The report has the reason `timeout`, and the result of the tool as what
was found; the other task is not affected. The tool is a real one.
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
from examples.mechanisms.scripted_model import ToolUse
from nodes.schemas.team import Limits, Worker

ACCOUNTANT = Worker(
    name="accountant",
    description="Computes prices.",
    instructions="Compute with your tool.",
    tools=("calculate",),
    limits=Limits(timeout_s=2.0),
)
TASTER = Worker(name="taster", description="Knows origins.", instructions="Read your notes.")


async def run_example() -> Played:
    """Run the example, and print what happens."""
    played = await play(
        make_team("timed", {}, workers=(ACCOUNTANT, TASTER), max_attempts=1),
        "What do 5 kilograms of Huila cost, and where does it come from?",
        {
            "Plan": make_plan(
                "Compute the cost, and name the origin.",
                make_task(
                    "cost",
                    "accountant",
                    "Compute in cost.md what 5 kilograms of Huila cost, in EUR.",
                ),
                make_task("origin", "taster", "Find in notes.md which country Huila comes from."),
            ),
            "Answer": make_answer("Huila comes from Colombia (notes.md).", "notes.md"),
        },
        {
            "cost": [
                ToolUse("calculate", {"expression": "5 * 24"}),
                make_report("5 kilograms of Huila cost 120 EUR.", "cost.md"),
            ],
            "origin": make_report("Huila comes from Colombia.", "notes.md"),
        },
        seconds={"cost": 1.2},
    )
    escalation = played.state["results"]["cost"].escalation
    print(f"cost ended by {escalation.reason}, and had found: {escalation.partial}")
    return played


if __name__ == "__main__":
    show(__doc__, run_example)
