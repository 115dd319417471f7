"""List contradictions with both sides, and let a judge decide between them.

    python -m examples.mechanisms.contradiction

Two reports give different figures for one price: code finds that before the answer is written. Two
more disagree in words: the synthesizer's model names that pair. One call of the judge each
documents which side holds and why, or that it cannot be decided.
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

CLAIMS = {
    "list": ("Huila cost 24 EUR per kilogram in 2025.", "prices.csv"),
    "invoice": ("In 2025 Huila cost 27 EUR per kilogram.", "invoice.pdf"),
    "label": ("The beans of Huila are washed.", "label.md"),
    "farmer": ("The beans of Huila are dried in the fruit.", "letter.md"),
}
IN_WORDS = [{"text": CLAIMS[task][0], "source": CLAIMS[task][1]} for task in ("label", "farmer")]


async def run_example() -> Played:
    """Run the example, and print what happens."""
    tasks = [
        make_task(task, "reader", f"Quote from {source} what it says on price or process of Huila.")
        for task, (_, source) in CLAIMS.items()
    ]
    answer = make_answer(
        "Huila costs 27 EUR per kilogram (invoice.pdf). How it is processed is not settled.",
        *(source for _, source in CLAIMS.values()),
        contradictions=[{"subject": "process", "claims": IN_WORDS, "verdict": ""}],
    )
    return await play(
        make_team("checking", {"reader": "Quotes documents."}),
        "What does Huila cost, and how is it processed?",
        {
            "Plan": make_plan("Read what the documents say on Huila.", *tasks),
            "Verdict": [
                {
                    "rulings": [
                        {"pair": 1, "holds": "second", "reason": "An invoice is what was paid."}
                    ]
                },
                {
                    "rulings": [
                        {"pair": 1, "holds": "undecided", "reason": "Neither names a harvest."}
                    ]
                },
            ],
            "Answer": answer,
        },
        {task: make_report(*claim) for task, claim in CLAIMS.items()},
    )


if __name__ == "__main__":
    show(__doc__, run_example)
