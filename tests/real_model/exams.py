"""Let two teams sit rows of their exams with a real model, beside the built-in one.

Each row is a command of its own, so a stopped measurement goes on. The score of `supervise eval`
is that of its rows' properties; a plan by rule is one of them.
"""

import json
from typing import Any, Final

from extensions.evals.exam import read_exam
from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER
from tests.real_model.trials import Endpoint, start
from tests.real_model.work_folder import WorkFolder

TEAMS: Final = ("market_analysis", "tech_support")
ROWS: Final = 5
BUILT_IN: Final = [f"--against={tier}=embedded" for tier in ("fast", "standard", "strong")]


def measure_exams(endpoint: Endpoint, kept: WorkFolder) -> None:
    """Run the rows that are not there already, and print a line for each."""
    print("| team | row | score | built-in model | complaints |\n|---|---|---|---|---|", flush=True)
    for team in TEAMS:
        for row in list_rows(team):
            key = f"{team} {row}"
            found = kept.read("exams", key)
            if found is None:
                found = _ask(team, row, endpoint, kept)
                kept.write("exams", key, found)
            cells = [team, row, found["score"], found["against"], found["complaints"]]
            print(f"| {' | '.join(map(str, cells))} |", flush=True)


def list_rows(team: str) -> list[str]:
    """Return the ids of the rows of a team's exam that are asked: spread over the whole exam."""
    rows, _ = read_exam(SHIPPED_TEAMS_FOLDER / team)
    ids = [row.id for row in rows]
    return ids[:: len(ids) // ROWS][:ROWS]


def _ask(team: str, row: str, endpoint: Endpoint, kept: WorkFolder) -> dict[str, Any]:
    command = ["eval", team, "--only", row, *BUILT_IN, "--json", "--threshold", "0"]
    child = start(command, endpoint, kept.make_empty("exam"))
    stdout, stderr = child.communicate()
    try:
        shown = json.loads(stdout)
        graded = shown["rows"][0]
        complaints = "; ".join(graded["complaints"])
        against = shown["against"]["score"]
        return {"score": shown["score"], "against": against, "complaints": complaints}
    except (ValueError, KeyError, IndexError):
        return {"score": None, "against": None, "complaints": stderr[-300:]}
