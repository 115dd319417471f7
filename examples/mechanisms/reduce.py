"""Summarise many results in rounds before the answer is written (`aggregation: reduce`).

    python -m examples.mechanisms.reduce

Five results are summarised four at a time, then the two summaries once more, and the answer is
written from the last one. A plan that does not ask for it gets the same only if the results are
longer than `max_synthesis_chars`. No key is needed: the models are scripted.
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

REGIONS = {"huila": 24, "sidamo": 31, "antigua": 28, "tarrazu": 26, "kona": 75}

REPLIES: Replies = {
    "Plan": [
        make_plan(
            "List the prices of the regions.",
            *(
                {
                    "id": region,
                    "worker": "accountant",
                    "description": f"Find the price of {region} in {region}.csv in EUR.",
                }
                for region in REGIONS
            ),
            aggregation="reduce",
        )
    ],
    "Answer": [
        make_answer(
            "Huila 24, Sidamo 31, Antigua 28, Tarrazu 26 EUR.",
            "huila.csv",
            "sidamo.csv",
            "antigua.csv",
            "tarrazu.csv",
        ),
        make_answer("Kona 75 EUR.", "kona.csv"),
        make_answer(
            "From Huila, 24 EUR, to Kona, 75 EUR.",
            "huila.csv",
            "kona.csv",
        ),
        make_answer(
            "Prices go from 24 EUR (huila.csv) to 75 EUR (kona.csv).", "huila.csv", "kona.csv"
        ),
    ],
}
REPORTS: Reports = {
    region: [make_report(f"{region.title()} costs {price} EUR.", f"{region}.csv")]
    for region, price in REGIONS.items()
}


async def run_example() -> Played:
    """Run the example, and print what happens."""
    team = make_team("reducing", {"accountant": "Finds prices."})
    played = await play(team, Script(REPLIES, REPORTS), "What do our coffees cost?")
    for event in played.select_events("synthesized"):
        if event.get("stage") == "reduce":
            print(f"summary {event['part']} of: {', '.join(event['tasks'])}")
    return played


if __name__ == "__main__":
    asyncio.run(run_example())
