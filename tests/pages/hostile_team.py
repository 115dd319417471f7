"""Teams with hostile texts, a broken exam, and exams that were kept, for the teams' pages."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from extensions.evals.evaluate import evaluate_team
from extensions.evals.kept_exams import keep_exam
from graph.settings import DEFAULT_DATABASE, Settings
from graph.teams.team_loader import find_team
from tests.pages.scenarios import HOSTILE

EXAMINED: Final = "market_analysis"
LONG: Final = "Read the whole list of prices, and report each one with its source. " * 3000
FAILED_ROW: Final = {
    "id": "made-worse",
    "request": f"Which coffee costs least? {HOSTILE}",
    "score": 100.0,
}


def write_teams(folder: Path) -> Mapping[str, str]:
    """Write teams, and exams of the default database; return the variables of a server in it."""
    teams = folder / "teams"
    write_hostile_team(teams / "hostile")
    broken = teams / "broken"
    broken.mkdir()
    (broken / "team.md").write_text("---\ndescription: [\n---\n", encoding="utf-8")
    _keep_exams(Settings(database_url=f"sqlite:///{folder / DEFAULT_DATABASE}"))
    return {"SUPERVISE_TEAMS": teams.name}


def write_hostile_team(folder: Path) -> None:
    """Write a team whose texts hold markup and direction marks, and whose exam has a bad line."""
    folder.mkdir(parents=True)
    (folder / "team.md").write_text(
        f"---\ndescription: {json.dumps(HOSTILE)}\ncontact: none\n---\n{LONG}{HOSTILE}",
        encoding="utf-8",
    )
    (folder / "clerk.md").write_text(
        "---\ndescription: Lists prices </script><script>alert(1)</script>\n"
        f"tools: [search_documents, web_search]\n---\n{LONG}",
        encoding="utf-8",
    )
    good = {"id": "one", "request": HOSTILE, "expect": {"facts": ["<b>24</b>"]}}
    lines = [json.dumps(good), "{", json.dumps({**good, "id": "two", "files": ["missing.md"]})]
    (folder / "evals.jsonl").write_text("\n".join(lines), encoding="utf-8")


def _keep_exams(settings: Settings) -> None:
    """Keep an exam, the same again with rows that changed, and a file that was cut off."""
    folder = find_team(EXAMINED, settings)
    evaluation = evaluate_team(EXAMINED, settings=settings, limit=6)
    first = keep_exam(settings.home, folder, evaluation, threshold=80)
    kept = settings.home / "exams" / EXAMINED
    older = kept / f"{first}.json"
    exam = json.loads(older.read_text(encoding="utf-8"))
    best = max(exam["rows"], key=lambda row: float(row["score"]))
    complaints = [f"facts: not in the answer: {HOSTILE}"]
    best |= {"score": best["score"] / 2, "complaints": complaints}
    exam["rows"].append(FAILED_ROW)
    (kept / "20260101T000000000000Z-0001.json").write_text(json.dumps(exam), encoding="utf-8")
    half = older.read_text(encoding="utf-8")[:500]
    (kept / "20260102T000000000000Z-0002.json").write_text(half, encoding="utf-8")
