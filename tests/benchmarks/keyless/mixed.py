"""Ask folders of tables and documents, without a model: `python -m tests.benchmarks.keyless.mixed`.

40 made-up requests on five folders, by a writer who had not seen the code: twenty in two parts, one
for a table and one for a document, ten that follow another one, five on a document alone, and five
that no file answers. Measured unseen first; what was wrong was corrected since.
"""

import asyncio
import json
import re
from argparse import ArgumentParser
from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from graph import arun
from graph.runs.outcome import Outcome
from graph.settings import Settings
from tests.benchmarks.keyless.asked import shows

REQUESTS = Path(__file__).with_suffix(".json")
_MARKS = re.compile(r"\n> ?|\n|\*\*")


def name_kind(asked: dict[str, Any]) -> str:
    """Return what a request is an example of."""
    if asked.get("none"):
        return "that no file answers"
    if asked["before"]:
        return "that follow another"
    return "in two parts" if asked["table"] and asked["document"] else "on a document"


def is_shown(asked: dict[str, Any], outcome: Outcome) -> bool:
    """Return whether the answer shows the figure or name and quotes the phrase; or claims none."""
    if asked.get("none"):
        return outcome.status != "done"
    text = " ".join(_MARKS.sub(" ", outcome.answer.text if outcome.answer else "").split())
    table = str(asked["table"])
    wanted = float(table) if re.fullmatch(r"-?\d+(?:\.\d+)?", table) else table
    return (not table or shows(wanted, text)) and asked["document"].lower() in text.lower()


async def ask(asked: dict[str, Any], files: dict[str, str]) -> Outcome:
    """Return what comes of a request, after the one that it follows if any."""
    with TemporaryDirectory() as home:
        settings = Settings(database_url=f"sqlite:///{home}/runs.sqlite")
        given: dict[str, Any] = {"team": "market_analysis", "materials": files}
        for request in filter(None, [asked["before"], asked["question"]]):
            outcome = await arun(request, settings=settings, thread="one", **given)
    return outcome


async def measure(rows: int | None) -> None:
    """Ask the requests; print those whose answer lacks something, and a table by kind."""
    held = json.loads(REQUESTS.read_text(encoding="utf-8"))
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for asked in held["requests"][:rows]:
        outcome = await ask(asked, held["worlds"][asked["world"]])
        is_right, kind = is_shown(asked, outcome), name_kind(asked)
        counts[kind].update(["asked", f"ended {outcome.status}", *["right"] * is_right])
        if not is_right:
            print(
                f"  {asked['before']} {asked['question']} ({outcome.status})".replace("   ", "  ")
            )
    print("\n| requests | asked | all that is right is shown | how they ended |\n|---|---|---|---|")
    for kind, found in counts.items():
        ends = ", ".join(f"{n[6:]} {found[n]}" for n in sorted(found) if n.startswith("ended "))
        print(f"| {kind} | {found['asked']} | {found['right']} | {ends} |")


def main() -> None:
    """Ask all requests, and print how many answers show all that is right."""
    parser = ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--rows", type=int, help="only so many requests")
    asyncio.run(measure(parser.parse_args().rows))


if __name__ == "__main__":
    main()
