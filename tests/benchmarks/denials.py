"""Count how often published texts, taken as reports, seem to deny what the next task builds on.

    python -m tests.benchmarks.denials DATA

None of the texts reports a failed search, so nearly each hit is a false alarm, which costs a run
one call of the fast tier. DATA is a folder with CUAD's labelled clauses
(`contracts_labelled/cuad.jsonl`), Markdown documents (`documents/*.md`) and WorFBench's plans
(`plans/worfbench.jsonl`). Each set is halved by a hash: the rule was corrected by looking at the
cases of the first half only.
"""

import argparse
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodes.planning.unexpected import find_denied_terms
from state import Report, Task
from tests.benchmarks.options import read_options

MAX_TASK_CHARS = 4_000
WITH_ITS_STEPS = "wikihow"
"""Of WorFBench: its requests list the words of their own steps."""


@dataclass(frozen=True)
class Pair:
    """A text taken as a report, and the words of the task that depends on it."""

    source: str
    key: str
    text: str
    next_task: str

    @property
    def half(self) -> int:
        """The half that the pair belongs to, 0 or 1."""
        return hashlib.sha256(self.key.encode()).digest()[-1] % 2

    @property
    def is_alarm(self) -> bool:
        """Whether the rule takes the text for a denial."""
        report = Report(task="a", worker="reader", output=self.text, confidence=90)
        task = Task(id="b", worker="reader", description=self.next_task[:MAX_TASK_CHARS])
        return bool(find_denied_terms(report, [task]))


def read_pairs(folder: Path) -> Iterator[Pair]:
    """Yield the pairs of all sets that a folder holds."""
    for contract in _read_lines(folder / "contracts_labelled" / "cuad.jsonl"):
        for label in contract["labels"]:
            key, text = contract["id"] + label["category"], "\n".join(label["spans"])
            yield Pair("CUAD: a clause, its category", key, text, label["category"])
    for path in sorted((folder / "documents").glob("*.md")):
        for section in re.split(r"(?m)^(?:<h3[^>]*>|###+ )", path.read_text("utf-8"))[1:]:
            lines = re.sub(r"<[^>]+>", "", section).strip().splitlines()
            yield Pair("Markdown: a section, its heading", lines[0], section, lines[0])
    for plan in _read_lines(folder / "plans" / "worfbench.jsonl"):
        if not plan["source"].endswith(WITH_ITS_STEPS):
            for task in plan["tasks"]:
                key = f"{plan['id']}{task['id']}"
                yield Pair("WorFBench: a request, its tasks", key, plan["request"], task["name"])


def _read_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    options = read_options(parser)
    pairs = [each for each in read_pairs(options.data) if each.text.strip()][: options.rows]
    total = Counter((each.source, each.half) for each in pairs)
    alarms = Counter((each.source, each.half) for each in pairs if each.is_alarm)
    print("| text as a report, next task | first half | second half |\n|---|---|---|")
    for source in sorted({each.source for each in pairs}):
        cells = (
            f"{alarms[source, half]} of {total[source, half]} "
            f"({alarms[source, half] / max(1, total[source, half]):.1%})"
            for half in (0, 1)
        )
        print(f"| {source} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
