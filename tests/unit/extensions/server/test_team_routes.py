"""The routes of the teams' pages: who gets an answer, and what it holds."""

import json
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from extensions.server.team_routes import list_team_routes
from extensions.server.users_file import add_user
from graph.commands.scaffold import make_team
from graph.settings import Settings
from graph.teams.team_card import MAX_TEXT_CHARS
from nodes.errors.redaction import register_secrets

ROW = {"id": "one", "request": "Which plum?", "files": ["sample"], "expect": {"facts": ["x"]}}


@pytest.fixture
def teams(tmp_path) -> Path:
    folder: Path = tmp_path / "teams"
    make_team("juice", folder)
    return folder


def open_page(teams: Path, users: Path | None = None) -> TestClient:
    settings = Settings(
        team_folders=(teams,),
        database_url=f"sqlite:///{teams.parent}/home/runs.sqlite",
        users_file=users,
    )
    return TestClient(Starlette(routes=list_team_routes(settings)))


def write_row(teams: Path, **changes: object) -> None:
    line = json.dumps({**ROW, **changes})
    (teams / "juice" / "evals.jsonl").write_text(line, encoding="utf-8")


def test_a_team_is_described_with_what_its_tools_read_and_send(teams):
    answer = open_page(teams).get("/supervise/teams/juice")

    shown = answer.json()
    tools = {tool["name"]: tool for worker in shown["team"]["workers"] for tool in worker["tools"]}
    assert tools["search_documents"]["reads"] == ["private", "untrusted"]
    assert tools["search_documents"]["sends"] == "nothing"
    assert shown["exam"]["count"] > 0
    assert shown["exams"] == []
    assert str(teams.parent) not in answer.text
    assert answer.headers["cache-control"] == "no-store"


def test_a_row_is_sent_as_the_input_of_a_run(teams):
    write_row(teams)

    given = open_page(teams).get("/supervise/teams/juice/rows/one").json()

    assert given["request"] == "Which plum?"
    assert sorted(given["materials"]) == sorted(
        path.name for path in (teams / "juice" / "sample").iterdir()
    )


def test_a_file_outside_of_the_teams_folders_is_refused(teams):
    (teams.parent / "private.md").write_text("the secret plum")
    (teams / "juice" / "link.md").symlink_to(teams.parent / "private.md")
    for name in ("../../private.md", "link.md"):
        write_row(teams, files=[name])
        answer = open_page(teams).get("/supervise/teams/juice/rows/one")

        assert answer.status_code == 422
        assert "outside of the teams' folders" in answer.json()["detail"]
        assert "secret plum" not in answer.text


@pytest.mark.parametrize("name", ["a\0b", "a" * 5000, "loop"])
def test_a_row_whose_file_no_system_has_is_one_line(teams, name):
    (teams / "juice" / "loop").symlink_to("loop")
    write_row(teams, files=[name])
    page = open_page(teams)

    assert page.get("/supervise/teams/juice").json()["exam"]["problem_count"] == 1
    answer = page.get("/supervise/teams/juice/rows/one")

    assert answer.status_code == 422
    assert "cannot" in answer.json()["detail"]


@pytest.mark.parametrize(
    "path", ["none", "..%2f..%2fetc", "juice/exams/x", "juice/rows/none", ".%2fjuice", "%00"]
)
def test_an_unknown_name_is_one_line(teams, path):
    answer = open_page(teams).get(f"/supervise/teams/{path}")

    assert answer.status_code == 404


def test_a_broken_team_and_a_broken_exam_are_shown_without_their_folder(teams):
    write_row(teams, files=["missing.md"])
    make_team("broken", teams)
    (teams / "broken" / "team.md").write_text("---\ndescription: [\n---\n")
    page = open_page(teams)

    listed = {each["name"]: each for each in page.get("/supervise/teams").json()}
    broken = page.get("/supervise/teams/broken")
    juice = page.get("/supervise/teams/juice")

    assert listed["broken"]["problem"].startswith("teams/broken/team.md:3: YAML")
    assert listed["juice"]["problem"] == ""
    assert broken.json()["team"] is None
    assert "missing.md" in juice.json()["exam"]["problems"][0]
    assert str(teams) not in broken.text + juice.text


def test_long_instructions_are_cut_and_secrets_masked(teams):
    register_secrets(["sk-in-the-team"])
    worker = teams / "juice" / "clerk.md"
    words = "Weigh the plums and the pears. " * 5000
    worker.write_text(f"---\ndescription: Weighs sk-in-the-team\n---\n{words}")

    answer = open_page(teams).get("/supervise/teams/juice")

    (clerk,) = [each for each in answer.json()["team"]["workers"] if each["name"] == "clerk"]
    assert len(clerk["instructions"]["text"]) == MAX_TEXT_CHARS
    assert clerk["instructions"]["chars"] == len(words.strip())
    assert clerk["description"] == "Weighs [secret]"


def test_with_users_only_a_known_token_gets_an_answer(teams):
    users = teams.parent / "users.json"
    token = add_user(users, "anna", is_proxy=False, has_crons=False)
    page = open_page(teams, users)
    for path in ("", "/juice", "/juice/rows/one", "/juice/exams/x"):
        assert page.get(f"/supervise/teams{path}").status_code == 401
        wrong = page.get(f"/supervise/teams{path}", headers={"Authorization": f"Bearer {token}x"})
        assert wrong.status_code == 401

    known = page.get("/supervise/teams", headers={"Authorization": f"Bearer {token}"})

    assert "juice" in {each["name"] for each in known.json()}


def test_a_broken_file_of_users_lets_nobody_in(teams):
    users = teams.parent / "users.json"
    users.write_text("{")

    answer = open_page(teams, users).get("/supervise/teams")

    assert answer.status_code == 401
    assert str(users) not in answer.text
