"""The conversation that each chat client plays: a request, its plan, a question, the answer."""

from typing import Any, Final

from tests.endpoint import Scenario, ScriptedTask

REQUEST: Final = "Compare the coffees in prices.csv, and say which one costs least."
QUESTION: Final = "With or without value-added tax?"
REPLY: Final = "without tax"
ANSWER: Final = "Huila costs least: 24 EUR a kilogram without tax."
MATERIAL: Final = "prices.csv"
MATERIAL_TEXT: Final = "coffee,eur_per_kg\nHuila,24\nSidamo,31\n"
CONTEXT: Final[dict[str, Any]] = {"approve_plan": True, "ask_human": True}
LATENCY_S: Final = 0.6
CHUNK_DELAY_S: Final = 0.05


def build_scenario(*, materials: tuple[str, ...] = ()) -> Scenario:
    """Return what the models answer; the analyst asks for what it is not told."""
    asking = {"reason": "ambiguous_input", "message": QUESTION}
    return Scenario(
        goal="Find the coffee that costs least.",
        tasks=(
            ScriptedTask(
                id="prices",
                worker="analyst",
                description="Compute from prices.csv the price of a kilogram of each coffee.",
                materials=materials,
                latency_s=LATENCY_S,
                report=[
                    {"status": "escalated", "escalation": asking},
                    {"output": "Huila costs 24 EUR, Sidamo 31 EUR.", "confidence": 90},
                ],
            ),
            ScriptedTask(
                id="origins",
                description="Find in the documents which country each coffee comes from.",
                latency_s=LATENCY_S,
                report={"output": "Huila comes from Colombia.", "confidence": 90},
            ),
        ),
        answers={"Answer": {"text": ANSWER, "confidence": 90}},
        chunk_delay_s=CHUNK_DELAY_S,
    )
