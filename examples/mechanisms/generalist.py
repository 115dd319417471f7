"""Give the task of a worker that does not exist to the generalist (`generalist` of `team.md`).

    python -m examples.mechanisms.generalist

The planner insists on a `lawyer`, whom the team does not have. After the repairs
(`max_plan_repairs`) the task goes to the generalist; the rest of the plan is unchanged. Without a
generalist such a plan is refused.
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
    "office",
    {"accountant": "Finds prices.", "clerk": "Answers what fits nobody else."},
    generalist="clerk",
    max_plan_repairs=1,
)


async def run_example() -> Played:
    """Run the example, and print what happens."""
    return await play(
        TEAM,
        "What does Huila cost, and may we call it Colombian?",
        {
            "Plan": make_plan(
                "Price and name of Huila.",
                make_task("price", "accountant", "Find the price of Huila in prices.csv, in EUR."),
                make_task(
                    "name",
                    "lawyer",
                    "Find in labels.md whether a blend of two countries may be named Colombian.",
                ),
            ),
            "Answer": make_answer(
                "Huila costs 24 EUR (prices.csv). A blend may not be named Colombian (labels.md).",
                "prices.csv",
                "labels.md",
            ),
        },
        {
            "price": make_report("Huila costs 24 EUR per kilogram.", "prices.csv"),
            "name": make_report("A blend may not be named after one country.", "labels.md"),
        },
    )


if __name__ == "__main__":
    show(__doc__, run_example)
