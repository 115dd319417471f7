"""Count how often a model takes reports wrongly for surprises, or does not see one.

    python -m tests.benchmarks.surprises --base-url http://127.0.0.1:8080/v1 --model local

Each set is a file of rows: a task, its report, and a task that waits for it, which the check is not
shown. Denials are to be surprises; findings are not, nor joins, where the task that waits needs
further reports too. Every third row was
looked at while the prompt was written; the others are the figure that counts. The calls are those
of a run.
"""

import argparse
import asyncio
import json
import sys
from itertools import count
from pathlib import Path
from typing import Any

from nodes.models.catalog import ModelCatalog
from nodes.models.settings import ModelSettings
from nodes.planning.plan_review import REVIEW_TIER, check_surprise
from state import Report, Task
from tests.benchmarks.options import read_options
from tests.node_runs import NodeRun

NEEDS = "a model server"
SETS = {"bug_denials": True, "denials": True, "findings": False, "joins": False}
"""Files, and whether their rows are surprises."""
TUNED = 3
"""Every third row, from the first one, was used to write the prompt."""


async def count_errors(models: ModelCatalog, name: str, rows: list[dict[str, Any]]) -> list[bool]:
    """Return for each row whether the check is wrong."""
    run, errors = NodeRun(), list[bool]()
    for row in rows:
        report = Report(task="found", worker="worker", output=row["output"])
        task = Task(id="found", worker="worker", description=row["task"])
        model = models.get_chat_model(REVIEW_TIER)
        why, _ = await run.call(check_surprise, model, task, report, ())
        errors.append(bool(why) != SETS[name])
        if errors[-1]:
            print(f"{name}: {row['output']}", file=sys.stderr, flush=True)
    if failed := run.list_events("plan_reviewed"):
        print(f"{name}: {len(failed)} of {len(rows)} not answered", file=sys.stderr)
    return errors


async def measure(options: argparse.Namespace) -> None:
    """Print the table in Markdown, a row for each set."""
    name = f"openai:{options.model}"
    models = ModelCatalog(ModelSettings(fast=name, base_url=options.base_url, api_key="none"))
    print("| set | wrong is | looked at | not looked at |\n|---|---|---|---|")
    for each, is_surprise in SETS.items():
        text = (Path(__file__).parent / f"{each}.jsonl").read_text("utf-8")
        rows = [json.loads(line) for line in text.splitlines()][: options.rows]
        errors = await count_errors(models, each, rows)
        cells = []
        for is_tuned in (True, False):
            part = [
                e for n, e in zip(count(), errors, strict=False) if (n % TUNED == 0) == is_tuned
            ]
            cells.append(f"{sum(part)} of {len(part)} ({sum(part) / max(1, len(part)):.0%})")
        wrong = "a miss" if is_surprise else "an alarm"
        print(f"| {each} | {wrong} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Measure the model that the options name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", required=True, help="with its /v1")
    parser.add_argument("--model", required=True)
    asyncio.run(measure(read_options(parser)))


if __name__ == "__main__":
    main()
