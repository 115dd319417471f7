"""Turn a tool that fails, or that there is not, into a message that the model can act on.

    python -m examples.mechanisms.tool_loop

The model calls `query_database`, which was not granted, then divides by zero, then calculates
right, and calculates again and again. At its cap (`max_turns`, here 5) it may only report. Nothing
of this ends the run. The tool is a real one.
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
    limits=Limits(max_turns=5),
)
RIGHT = ToolUse("calculate", {"expression": "24 * 5"})


async def run_example() -> Played:
    """Run the example, and print what each call of a tool has returned."""
    played = await play(
        make_team("calculating", {}, workers=(ACCOUNTANT,)),
        "What do 5 kilograms of Huila cost?",
        {
            "Plan": make_plan(
                "Compute the cost.",
                make_task("cost", "accountant", "Compute what 5 kilograms cost at 24 EUR each."),
            ),
            "Answer": make_answer("5 kilograms cost 120 EUR (calculate).", "calculate"),
        },
        {
            "cost": [
                ToolUse("query_database", {"sql": "SELECT price FROM coffees"}),
                ToolUse("calculate", {"expression": "24 / 0"}),
                *[RIGHT] * 10,
                make_report("5 kilograms cost 120 EUR.", "calculate"),
            ]
        },
    )
    turns = [call for call in played.script.calls if call.task == "cost"]
    print(f"turns of the model: {len(turns)}; tools on offer in the last: {len(turns[-1].tools)}")
    return played


if __name__ == "__main__":
    show(__doc__, run_example)
