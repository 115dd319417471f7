"""Let a judge choose the best of several attempts at one task (`aggregation: select`).

    python -m examples.mechanisms.select_best

Two writers get the same description. The judge reads both results and names the best one; only
that one reaches the synthesizer.
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

DESCRIPTION = "Write slogan.md: one line on Huila that names its taste and its origin."
TASTE, ORIGIN = "Huila: a very good coffee.", "Huila: red apple and caramel, from Colombia."


async def run_example() -> Played:
    """Run the example, and print what happens."""
    played = await play(
        make_team(
            "selecting", {"plain_writer": "Writes plainly.", "vivid_writer": "Writes vividly."}
        ),
        "Write a line on our coffee Huila.",
        {
            "Plan": make_plan(
                "Write the best line on Huila.",
                make_task("first", "plain_writer", DESCRIPTION),
                make_task("second", "vivid_writer", DESCRIPTION),
                aggregation="select",
            ),
            "Verdict": {"best": "second", "reason": "Only this one names taste and origin."},
            "Answer": make_answer(f"{ORIGIN} (second.md)", "second.md"),
        },
        {
            "first": make_report(TASTE, "first.md", confidence=95),
            "second": make_report(ORIGIN, "second.md", confidence=85),
        },
    )
    (judged,) = played.select_events("judged")
    print(f"of {' and '.join(judged['attempts'])} the judge chose {judged['best']}", end="")
    print(f": {judged['reason']}")
    return played


if __name__ == "__main__":
    show(__doc__, run_example)
