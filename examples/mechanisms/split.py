"""Divide a task that failed into smaller ones: the last rung of the default recovery ladder.

    python -m examples.mechanisms.split

The worker fails at the whole task, then in new words, then with a stronger model; no other worker
suits. The fourth attempt plans the task again, as two smaller ones, whose answer is its report.
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


async def run_example() -> Played:
    """Run the example, and print what happens."""
    whole = make_plan(
        "Describe the coffees.",
        make_task("all", "taster", "Describe each coffee of notes.md: its origin and its taste."),
    )
    parts = make_plan(
        "Describe the coffees.",
        make_task("origins", "taster", "Find in notes.md which country each coffee comes from."),
        make_task("tastes", "taster", "Quote from notes.md how each coffee tastes."),
    )
    played = await play(
        make_team("splitting", {"taster": "Knows origins and tastes."}),
        "Describe our coffees.",
        {
            "Plan": [whole, parts],
            "Refinement": {
                "description": "List for each coffee of notes.md its origin, then its taste.",
                "reason": "A list may be shorter than a description.",
            },
            "Answer": make_answer(
                "Huila comes from Colombia and tastes of apple (notes.md).", "notes.md"
            ),
        },
        {
            "all": make_failure("notes.md has too many coffees for one report."),
            "origins": make_report("Huila comes from Colombia.", "notes.md"),
            "tastes": make_report("Huila tastes of apple.", "notes.md"),
        },
    )
    rungs = [event["rung"] for event in played.select_events("task_started") if event["rung"]]
    print(f"rungs after the first failure: {', '.join(rungs)}")
    return played


if __name__ == "__main__":
    show(__doc__, run_example)
