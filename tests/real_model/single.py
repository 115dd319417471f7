"""Let a real model sit one row of each team's exam, as a team and as one agent.

The row is drawn by a seeded choice from those that have an answer. A row that the folder has is
not measured again, so a stopped measurement goes on; one that ended with an error is. Each run has
no history, so its estimate is made of constants; the table under the first says how often the
interval held all the same.
"""

import asyncio
import random
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import SecretStr

from extensions.evals.evaluate import aevaluate_team
from extensions.evals.exam import load_exam
from extensions.insight.compare import measure
from graph.settings import Settings
from graph.teams.team_loader import list_shipped_teams, load_team
from nodes.errors import SupervisorError
from state import Strategy
from tests.real_model.trials import Endpoint
from tests.real_model.work_folder import WorkFolder

SEED: Final = 33
STRATEGIES: Final[Sequence[Strategy]] = ("plan", "single")
AMOUNTS: Final = ("model_calls", "input_tokens", "output_tokens", "seconds")
KEPT: Final = ("status", "facts", "proved", "gaps", "model_calls", "tokens", "seconds")
HEAD: Final = (
    "| team | row | strategy | score | status | proved claims | gaps | calls | tokens | seconds |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


def measure_single(endpoint: Endpoint, kept: WorkFolder) -> None:
    """Run the rows that are not there already, and print a line for each and the intervals held."""
    settings, done = _build_settings(endpoint), list[Mapping[str, Any]]()
    print(HEAD, flush=True)
    for folder, row in draw_rows(settings):
        for strategy in STRATEGIES:
            key = f"{folder.name} {row} {strategy}"
            found = kept.read("single", key)
            if found is None:
                found = asyncio.run(_ask(folder, row, strategy, settings))
                if found["score"] is not None:
                    kept.write("single", key, found)
            done.append(found)
            cells = [folder.name, row, strategy, *map(str, _lay_out(found))]
            print(f"| {' | '.join(cells)} |", flush=True)
    print(format_held(done))


def draw_rows(settings: Settings) -> Sequence[tuple[Path, str]]:
    """Return a row of each shipped team's exam, the teams in an order by chance."""
    chance, drawn = random.Random(SEED), list[tuple[Path, str]]()
    for folder in list_shipped_teams():
        team = load_team(folder, settings)
        exam = load_exam(folder, [worker.name for worker in team.workers])
        drawn.append(
            (folder, chance.choice([x.id for x in exam.rows if not x.expect.needs_only_a_plan]))
        )
    chance.shuffle(drawn)
    return drawn


def format_held(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how many runs of those with an estimate took what its intervals said."""
    known = [row for row in rows if row.get("held")]
    sums = (f"{name} {sum(row['held'][name] for row in known)}" for name in AMOUNTS)
    return f"\nintervals that held, of {len(known)} runs: {', '.join(sums)}"


def _build_settings(endpoint: Endpoint) -> Settings:
    model = f"openai:{endpoint.model}"
    return Settings(
        openai_base_url=endpoint.base_url,
        openai_api_key=SecretStr("none"),
        max_concurrency=1,
        deadline_s=endpoint.deadline_s,
        record=False,
        model_fast=model,
        model_standard=model,
        model_strong=model,
    )


async def _ask(folder: Path, row: str, strategy: Strategy, settings: Settings) -> dict[str, Any]:
    evaluate = partial(aevaluate_team, folder, settings=settings, only=[row])
    try:
        found = await (evaluate(strategy="single") if strategy == "single" else evaluate())
    except SupervisorError as error:
        return {"score": None, "status": error.format_line()}
    outcome = found.rows[0].result.outcome
    if outcome is None:
        return {"score": found.score, "status": "no outcome"}
    fact, expected = outcome.usage.model_dump(), outcome.usage.estimate
    fact["seconds"] = outcome.timing.get("wall_s") or 0.0
    held = dict[str, bool]()
    if expected and expected.low and expected.high:
        low, high = expected.low.model_dump(), expected.high.model_dump()
        held = {name: low[name] <= fact[name] <= high[name] for name in AMOUNTS}
    shown = measure(outcome)
    return {
        **{name: shown[name] for name in KEPT},
        "score": found.score,
        "held": held,
        "expected": expected.model_dump(mode="json") if expected else None,
        "fact": {name: fact[name] for name in AMOUNTS},
        "answer": outcome.to_json().get("answer"),
        "complaints": [str(each) for each in found.rows[0].complaints],
    }


def _lay_out(row: Mapping[str, Any]) -> Sequence[object]:
    if row.get("seconds") is None:
        return [row["score"], row["status"]]
    claims = f"{row['proved']} of {row['facts']}"
    middle = (row["score"], row["status"], claims, row["gaps"], row["model_calls"])
    return [*middle, f"{row['tokens']:,}", f"{row['seconds']:.0f}"]
