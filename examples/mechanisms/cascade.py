"""Let a failure reach only the tasks that need its result.

    python -m examples.mechanisms.cascade

T1 and T2 are independent, T3 needs T1, T4 needs T2, T5 needs T3 and T4. T1 fails for good: one call
of the fast tier judges whether what waits still makes sense, T3 is skipped with the reason, T4
runs. The example runs twice: T5 is skipped if it requires T3 (`required: true`, the default), and
runs without its result if it does not (`required: false`).
"""

from typing import Any

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


async def run_cascade(*, is_required: bool) -> Played:
    """Run the five tasks; `is_required` is the need of T5 for T3."""
    needs: dict[str, list[Any]] = {
        "T1": [],
        "T2": [],
        "T3": ["T1"],
        "T4": ["T2"],
        "T5": [{"task": "T3", "required": is_required}, "T4"],
    }
    tasks = [
        make_task(
            name,
            "researcher",
            f"Write {name}.md: name three figures of part {name}, with sources.",
            needs=needed,
        )
        for name, needed in needs.items()
    ]
    last = "T4" if is_required else "T5"
    reports = {name: make_report(f"Part {name} costs 42 EUR.", f"{name}.md") for name in needs}
    return await play(
        make_team("cascade", {"researcher": "Finds figures."}, max_attempts=1),
        "Compare the parts.",
        {
            "Plan": make_plan("Compare the parts.", *tasks),
            "PlanReview": {"makes_sense": True, "reason": "The other parts are independent."},
            "Answer": make_answer(f"Part {last} costs 42 EUR ({last}.md).", f"{last}.md"),
        },
        {**reports, "T1": make_failure("The figures are not there.")},
    )


async def run_example() -> dict[bool, Played]:
    """Run the example twice, print what happens, and return both runs by whether T5 needs T3."""
    runs = {}
    for is_required in (True, False):
        print(f"T5 {'requires' if is_required else 'can do without'} the result of T3")
        runs[is_required] = await run_cascade(is_required=is_required)
        print()
    return runs


if __name__ == "__main__":
    show(__doc__, run_example)
