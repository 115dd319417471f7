"""`supervise ui` with the defaults of a user, in a folder that has modules of our names."""

import json
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client

from extensions.evals.evaluate import evaluate_team
from extensions.evals.kept_exams import keep_exam
from graph.settings import Settings
from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER
from tests.integration.dev_server import TEAM, DevServer
from tests.integration.ui_server import ui_server

pytestmark = pytest.mark.slow
PRESENCE = "open(__file__ + '.imported', 'w')"
OWN_MODULES = (
    *(
        "state.py",
        "graph.py",
        "graph/__init__.py",
        "extensions/__init__.py",
        "nodes/__init__.py",
    ),
    *("httpx.py", "sitecustomize.py"),
)
REQUEST = "What does Huila cost?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with modules that write a file when they are imported, and with an exam."""
    place = tmp_path_factory.mktemp("home") / "project"
    for name in OWN_MODULES:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(PRESENCE)
    (place / "documents").mkdir()
    (place / "documents" / "prices.md").write_text("# Prices\n\nHuila costs 24 EUR a kilogram.\n")
    shutil.copytree(SHIPPED_TEAMS_FOLDER / "tech_support", place / "teams" / "own_support")
    settings = Settings(database_url=f"sqlite:///{place}/.supervise/runs.sqlite")
    graded = evaluate_team(TEAM, settings=settings, limit=1)
    keep_exam(settings.home, SHIPPED_TEAMS_FOLDER / TEAM, graded)
    return place


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[DevServer]:
    with ui_server(folder, SUPERVISE_DOCUMENTS="documents", SUPERVISE_TEAMS="teams") as running:
        yield running


def load(server: DevServer, path: str) -> Any:
    with urllib.request.urlopen(f"{server.url}/supervise/{path}") as answer:
        return json.load(answer)


def test_no_module_of_the_current_folder_is_imported(server: DevServer, folder: Path):
    with urllib.request.urlopen(f"{server.url}/supervise/") as answer:
        page = answer.read()

    assert b"live.js" in page
    assert list(folder.rglob("*.imported")) == []


def test_the_exam_of_a_team_is_shown_with_its_rows(server: DevServer):
    [kept] = load(server, f"teams/{TEAM}")["exams"]

    exam = load(server, f"teams/{TEAM}/exams/{kept['id']}")

    assert [row["score"] for row in exam["rows"]] == [exam["score"]]


async def test_a_run_reads_documents_of_a_relative_folder(server: DevServer):
    client = get_client(url=server.url)
    thread = (await client.threads.create())["thread_id"]

    ended = await client.runs.wait(thread, "own_support", input={"request": REQUEST})

    assert isinstance(ended, dict)
    assert "24 EUR" in str(ended["answer"])
    assert "BlockingError" not in server.read_log()
