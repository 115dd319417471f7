"""Summarise many results in rounds before the answer is written (`aggregation: reduce`).

    python -m examples.mechanisms.reduce

Five results are summarised four at a time, then the two summaries once more, and the answer is
written from the last one. A plan that does not ask for it gets the same only if the results are
longer than `max_synthesis_chars`.
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

PRICES = {"huila": 24, "sidamo": 31, "antigua": 28, "tarrazu": 26, "kona": 75}


async def run_example() -> Played:
    """Run the example, and print what happens."""
    tasks = [
        make_task(region, "accountant", f"Find the price of {region} in {region}.csv in EUR.")
        for region in PRICES
    ]
    first = [f"{region}.csv" for region in PRICES if region != "kona"]
    ends = ("huila.csv", "kona.csv")
    played = await play(
        make_team("reducing", {"accountant": "Finds prices."}),
        "What do our coffees cost?",
        {
            "Plan": make_plan("List the prices of the regions.", *tasks, aggregation="reduce"),
            "Answer": [
                make_answer("Huila 24, Sidamo 31, Antigua 28, Tarrazu 26 EUR.", *first),
                make_answer("Kona 75 EUR.", "kona.csv"),
                make_answer("From Huila, 24 EUR, to Kona, 75 EUR.", *ends),
                make_answer("Prices go from 24 EUR (huila.csv) to 75 EUR (kona.csv).", *ends),
            ],
        },
        {
            region: make_report(f"{region.title()} costs {price} EUR.", f"{region}.csv")
            for region, price in PRICES.items()
        },
    )
    for event in played.select_events("synthesized"):
        if event.get("stage") == "reduce":
            print(f"summary {event['part']} of: {', '.join(event['tasks'])}")
    return played


if __name__ == "__main__":
    show(__doc__, run_example)
