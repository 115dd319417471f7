"""Divide a task that failed into smaller ones: the last rung of the default recovery ladder.

    python -m examples.mechanisms.split

The worker fails at the whole task, then in new words, then with a stronger model; no other worker
suits. The fourth attempt plans the task again, as two smaller ones, whose answer is its report. No
key is needed: the models are scripted.
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

REPLIES: Replies = {
    "Plan": [
        make_plan(
            "Describe the coffees.",
            {
                "id": "all",
                "worker": "taster",
                "description": "Describe each coffee of notes.md: its origin and its taste.",
            },
        ),
        make_plan(
            "Describe the coffees.",
            {
                "id": "origins",
                "worker": "taster",
                "description": "Find in notes.md which country each coffee comes from.",
            },
            {
                "id": "tastes",
                "worker": "taster",
                "description": "Quote from notes.md how each coffee tastes.",
            },
        ),
    ],
    "Refinement": [
        {
            "description": "List for each coffee of notes.md its origin, then its taste.",
            "reason": "A list may be shorter than a description.",
        }
    ],
    "Answer": [
        make_answer("Huila comes from Colombia and tastes of apple (notes.md).", "notes.md"),
    ],
}
REPORTS: Reports = {
    "all": [{"status": "failed", "output": "notes.md has too many coffees for one report."}],
    "origins": [make_report("Huila comes from Colombia.", "notes.md")],
    "tastes": [make_report("Huila tastes of apple.", "notes.md")],
}


async def run_example() -> Played:
    """Run the example, and print what happens."""
    team = make_team("splitting", {"taster": "Knows origins and tastes."})
    return await play(team, Script(REPLIES, REPORTS), "Describe our coffees.")


if __name__ == "__main__":
    asyncio.run(run_example())
