"""Revise the plan when a report is not as planned, while unrelated tasks are at work.

    python -m examples.mechanisms.replan

The worker of `code` reports: no bug here, this looks like a configuration issue. It knows nothing
of the plan and sets no special field. A rule sees that the report denies what the waiting task
`comms` builds on, and one call of the fast tier judges that the plan must change: `ops` is
dispatched, `comms` is not. The unrelated task `figures` is at work from the first to the last
moment, and the new task does not wait for it. No key is needed: the models are scripted.
"""

import asyncio

from examples.mechanisms.scripted import (
    Json,
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

CODE: Json = {
    "id": "code",
    "worker": "code",
    "description": "Find the bug in gateway.py that makes payments time out, with file and line.",
}
FIGURES: Json = {
    "id": "figures",
    "worker": "data",
    "description": "Count the payments of payments.csv that timed out, for each day.",
}
COMMS: Json = {
    "id": "comms",
    "worker": "comms",
    "description": "Draft note.md for the customers: describe the bug in the code and its fix.",
    "depends_on": ["code"],
}
OPS: Json = {
    "id": "ops",
    "worker": "ops",
    "description": "Find the value of timeout_s in gateway.yaml, and the value of the manual.",
    "depends_on": ["code"],
}
GOAL = "Find why payments time out, and draft a note about it."

REPLIES: Replies = {
    "Plan": [make_plan(GOAL, CODE, FIGURES, COMMS), make_plan(GOAL, CODE, FIGURES, OPS)],
    "PlanReview": [{"makes_sense": False, "reason": "There is no bug to write about; a setting."}],
    "Answer": [
        make_answer(
            "The code has no bug (gateway.py). timeout_s is 2, the manual says 30 (gateway.yaml). "
            "17 payments timed out (payments.csv).",
            "gateway.py",
            "gateway.yaml",
            "payments.csv",
        )
    ],
}
REPORTS: Reports = {
    "code": [
        make_report(
            "No bug found in the code. This looks like a configuration issue.", "gateway.py"
        )
    ],
    "figures": [make_report("17 payments timed out on Monday.", "payments.csv")],
    "ops": [make_report("timeout_s is 2; the manual says 30.", "gateway.yaml")],
}


async def run_example() -> Played:
    """Run the example, and print what happens."""
    team = make_team(
        "operations",
        {
            "code": "Reads code and finds bugs.",
            "data": "Counts what happened.",
            "comms": "Drafts notes.",
            "ops": "Reads settings.",
        },
    )
    script = Script(REPLIES, REPORTS, {"code": 0.2, "figures": 1.5, "ops": 0.2})
    played = await play(team, script, "Find why payments time out, and draft a note about it.")
    code, ops, figures = (played.state["results"][name] for name in ("code", "ops", "figures"))
    print(f"ops began {1000 * (ops.started_s - code.ended_s):.0f} ms after code had reported,")
    print(f"and ended {figures.ended_s - ops.ended_s:.1f} s before figures did")
    return played


if __name__ == "__main__":
    asyncio.run(run_example())
