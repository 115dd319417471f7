"""Do one task twice, and let a judge select the better result (`aggregation: select`).

    python -m examples.mechanisms.select_best

Two writers get the same description. The judge reads both results and names the best one; only
that one reaches the synthesizer. No key is needed: the models are scripted.
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

DESCRIPTION = "Write slogan.md: one line on Huila that names its taste and its origin."
TASTE, ORIGIN = "Huila: a very good coffee.", "Huila: red apple and caramel, from Colombia."

REPLIES: Replies = {
    "Plan": [
        make_plan(
            "Write the best line on Huila.",
            {"id": "first", "worker": "plain_writer", "description": DESCRIPTION},
            {"id": "second", "worker": "vivid_writer", "description": DESCRIPTION},
            aggregation="select",
        )
    ],
    "Verdict": [{"best": "second", "reason": "Only this one names taste and origin."}],
    "Answer": [make_answer(f"{ORIGIN} (second.md)", "second.md")],
}
REPORTS: Reports = {
    "first": [make_report(TASTE, "first.md", confidence=95)],
    "second": [make_report(ORIGIN, "second.md", confidence=85)],
}


async def run_example() -> Played:
    """Run the example, and print what happens."""
    team = make_team(
        "selecting", {"plain_writer": "Writes plainly.", "vivid_writer": "Writes vividly."}
    )
    played = await play(team, Script(REPLIES, REPORTS), "Write a line on our coffee Huila.")
    (judged,) = played.select_events("judged")
    print(f"the judge chose {judged['best']} of {judged['attempts']}: {judged['reason']}")
    return played


if __name__ == "__main__":
    asyncio.run(run_example())
