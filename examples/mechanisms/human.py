"""Ask a human about an unclear task, while other tasks continue (`ask_human`, or `--ask`).

    python -m examples.mechanisms.human

The worker of `prices` escalates: with or without tax? Its task waits, the task `origins` is done
meanwhile. The script answers in place of a human, and the run resumes from its checkpoint, without
doing `origins` again.
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
from state import Context

ASKING = {"reason": "ambiguous_input", "message": "With or without value-added tax?"}


async def run_example() -> Played:
    """Run the example, and print what happens."""
    return await play(
        make_team("asking", {"accountant": "Computes prices.", "taster": "Knows origins."}),
        "What do 5 kilograms of Huila cost, and where does it come from?",
        {
            "Plan": make_plan(
                "Describe Huila.",
                make_task(
                    "prices",
                    "accountant",
                    "Compute from prices.csv what 5 kilograms of Huila cost, in EUR.",
                ),
                make_task("origins", "taster", "Find in notes.md which country Huila comes from."),
            ),
            "Answer": make_answer(
                "5 kilograms of Huila, from Colombia (notes.md), cost 142.80 EUR with tax "
                "(prices.csv).",
                "prices.csv",
                "notes.md",
            ),
        },
        {
            "prices": [
                {"status": "escalated", "escalation": ASKING},
                make_report("5 kilograms of Huila cost 142.80 EUR with tax.", "prices.csv"),
            ],
            "origins": make_report("Huila comes from Colombia.", "notes.md"),
        },
        seconds={"origins": 0.2},
        human_replies=("with 19 percent tax",),
        context=Context(ask_human=True),
    )


if __name__ == "__main__":
    show(__doc__, run_example)
