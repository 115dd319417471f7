"""Ask a human about an unclear task, while other tasks continue (`ask_human`, or `--ask`).

    python -m examples.mechanisms.human

The worker of `prices` escalates: with or without tax? Its task waits, the task `origins` is done
meanwhile. The script answers in place of a human, and the run resumes from its checkpoint, without
doing `origins` again. No key is needed: the models are scripted.
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
from state import Context

REPLY = "with 19 percent tax"

REPLIES: Replies = {
    "Plan": [
        make_plan(
            "Describe Huila.",
            {
                "id": "prices",
                "worker": "accountant",
                "description": "Compute from prices.csv what 5 kilograms of Huila cost, in EUR.",
            },
            {
                "id": "origins",
                "worker": "taster",
                "description": "Find in notes.md which country Huila comes from.",
            },
        )
    ],
    "Answer": [
        make_answer(
            "5 kilograms of Huila, from Colombia (notes.md), cost 142.80 EUR with tax "
            "(prices.csv).",
            "prices.csv",
            "notes.md",
        )
    ],
}
REPORTS: Reports = {
    "prices": [
        {
            "status": "escalated",
            "escalation": {
                "reason": "ambiguous_input",
                "message": "With or without value-added tax?",
            },
        },
        make_report("5 kilograms of Huila cost 142.80 EUR with tax.", "prices.csv"),
    ],
    "origins": [make_report("Huila comes from Colombia.", "notes.md")],
}


async def run_example() -> Played:
    """Run the example, and print what happens."""
    team = make_team(
        "asking", {"accountant": "Computes prices.", "taster": "Knows origins and tastes."}
    )
    return await play(
        team,
        Script(REPLIES, REPORTS, {"origins": 0.2}),
        "What do 5 kilograms of Huila cost, and where does it come from?",
        human_replies=(REPLY,),
        context=Context(ask_human=True),
    )


if __name__ == "__main__":
    asyncio.run(run_example())
