"""Revise the plan when a report is not as planned, while unrelated tasks are at work.

    python -m examples.mechanisms.replan

The worker of `code` reports: no bug here, this looks like a configuration issue. It knows nothing
of the plan; its report only says, in `found_as_expected`, that what its task asked about is not
there. One call of the fast tier judges that the plan must change: `ops` is dispatched, `comms` is
not. The unrelated task `figures` is at work from the first to the last
moment, and the new task does not wait for it.
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

TEAM = make_team(
    "operations",
    {
        "code": "Reads code and finds bugs.",
        "data": "Counts what happened.",
        "comms": "Drafts notes.",
        "ops": "Reads settings.",
    },
)
GOAL = "Find why payments time out, and draft a note about it."
CODE = make_task(
    "code", "code", "Find the bug in gateway.py that makes payments time out, with file and line."
)
FIGURES = make_task(
    "figures", "data", "Count the payments of payments.csv that timed out, for each day."
)
COMMS = make_task(
    "comms",
    "comms",
    "Draft note.md for the customers: describe the bug in the code and its fix.",
    needs=["code"],
)
OPS = make_task(
    "ops",
    "ops",
    "Find the value of timeout_s in gateway.yaml, and the value of the manual.",
    needs=["code"],
)


async def run_example() -> Played:
    """Run the example, and print what happens."""
    no_bug = "No bug found in the code. This looks like a configuration issue."
    played = await play(
        TEAM,
        GOAL,
        {
            "Plan": [make_plan(GOAL, CODE, FIGURES, COMMS), make_plan(GOAL, CODE, FIGURES, OPS)],
            "PlanReview": {
                "makes_sense": False,
                "reason": "There is no bug to write about; a setting.",
            },
            "Answer": make_answer(
                "The code has no bug (gateway.py). timeout_s is 2, the manual says 30 "
                "(gateway.yaml). 17 payments timed out (payments.csv).",
                "gateway.py",
                "gateway.yaml",
                "payments.csv",
            ),
        },
        {
            "code": make_report(no_bug, "gateway.py", found_as_expected=False),
            "figures": make_report("17 payments timed out on Monday.", "payments.csv"),
            "ops": make_report("timeout_s is 2; the manual says 30.", "gateway.yaml"),
        },
        seconds={"code": 0.2, "figures": 1.5, "ops": 0.2},
    )
    code, ops, figures = (played.state["results"][name] for name in ("code", "ops", "figures"))
    print(f"ops began {1000 * (ops.started_s - code.ended_s):.0f} ms after code had reported,")
    print(f"and ended {figures.ended_s - ops.ended_s:.1f} s before figures did")
    return played


if __name__ == "__main__":
    show(__doc__, run_example)
