"""What the models answer while the live page is driven in a browser."""

from typing import Final

from tests.endpoint import Scenario, ScriptedTask

REQUEST: Final = "Compare the coffees in prices.csv, and say which one costs least."
ANSWER: Final = "Huila costs least: 24 EUR a kilogram."
MATERIAL: Final = "prices.csv"
MATERIAL_TEXT: Final = "coffee,eur_per_kg\nHuila,24\nSidamo,31\n"
HOSTILE: Final = "<img src=x onerror=alert(1)> \u202egnp.exe"


def build_story(*, task_s: float = 2.0) -> Scenario:
    """Return a plan of four tasks, two of them beside each other, with a hostile text in one."""

    def task(name: str, *needs: str, output: str) -> ScriptedTask:
        return ScriptedTask(
            id=name,
            depends_on=needs,
            latency_s=task_s,
            materials=(MATERIAL,) if name == "prices" else (),
            report={"output": output, "confidence": 90},
        )

    return Scenario(
        goal="Find the coffee that costs least.",
        tasks=(
            task("prices", output="Huila costs 24 EUR, Sidamo 31 EUR."),
            task("origins", output=f"Huila comes from Colombia. {HOSTILE}"),
            task("ranking", "prices", "origins", output="Huila, then Sidamo."),
            task("check", "ranking", output="The prices are those of the file."),
        ),
        answers={"Answer": {"text": ANSWER, "confidence": 90}},
    )


def build_wide(tasks: int, *, task_s: float) -> Scenario:
    """Return a plan of many tasks: chains of four, beside each other."""
    listed = [
        ScriptedTask(
            id=f"part_{number:04d}",
            depends_on=(f"part_{number - 1:04d}",) if number % 4 else (),
            latency_s=task_s,
            report={"output": f"Part {number} costs {number} euros. " * 20, "confidence": 90},
        )
        for number in range(tasks)
    ]
    return Scenario(tasks=tuple(listed), answers={"Answer": {"text": ANSWER, "confidence": 90}})
