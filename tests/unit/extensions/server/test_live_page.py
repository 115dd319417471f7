"""The routes of the live page and of the teams' pages: what is sent, and to whom."""

import io
import json
from base64 import b64encode
from pathlib import Path

import docx
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from extensions.server import live_page
from extensions.server.live_page import list_page_routes
from extensions.server.studio_access import build_app
from extensions.server.team_routes import list_team_routes
from extensions.server.users_file import add_user
from graph.commands.scaffold import make_team
from graph.settings import Settings
from graph.teams.team_card import MAX_TEXT_CHARS
from nodes.errors.redaction import register_secrets


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=list_page_routes()), base_url="http://127.0.0.1:2024")


def test_the_address_without_a_slash_leads_to_the_page(client: TestClient):
    answer = client.get("/supervise", follow_redirects=False)

    assert (answer.status_code, answer.headers["location"]) == (307, "supervise/")
    assert client.get("/supervise").headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("live.js", "text/javascript"), ("live.css", "text/css")],
)
def test_each_file_has_its_type_and_a_strict_policy(client: TestClient, name: str, kind: str):
    answer = client.get(f"/supervise/{name}")

    assert answer.headers["content-type"].startswith(kind)
    assert answer.headers["x-content-type-options"] == "nosniff"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("name", ["nothing.js", "..%2F..%2Fsettings.py", "licences.txt", "a/b"])
def test_no_other_file_is_sent(client: TestClient, name: str):
    answer = client.get(f"/supervise/{name}")

    assert answer.status_code == 404
    if answer.text.startswith("not a file"):
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_file_that_the_browser_has_is_not_sent_again(client: TestClient):
    tag = client.get("/supervise/live.js").headers["etag"]

    answer = client.get("/supervise/live.js", headers={"if-none-match": tag})

    assert (answer.status_code, answer.content) == (304, b"")


def test_a_checkout_without_built_files_says_how_to_build_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(live_page, "BUILT", tmp_path)

    answer = TestClient(Starlette(routes=list_page_routes())).get("/supervise/")

    assert answer.status_code == 404
    assert answer.text.startswith("error[PAGE_MISSING]")


def test_the_page_needs_no_token_where_a_server_has_users(tmp_path: Path):
    users = tmp_path / "users.json"
    add_user(users, "anna@example.org")
    settings = Settings(users_file=users, server_hook="auth.py:auth", server_edition="inmem")

    client = TestClient(build_app(settings), base_url="http://127.0.0.1:2024")

    assert client.get("/supervise/").status_code == 200
    assert client.post("/supervise/").status_code == 401


def test_a_page_of_another_origin_does_not_get_it():
    client = TestClient(build_app(Settings(server_edition="inmem")), base_url="http://localhost")

    assert client.get("/supervise/", headers={"origin": "http://evil.test"}).status_code == 403


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


def test_the_page_learns_which_chosen_files_will_not_be_read(teams):
    files = {"cat.png": ("image/png", b"x"), "a.exe": ("", b"MZ\0"), "b.db": ("", b"x")}
    read = {
        "c.pdf": ("application/pdf", b"%PDF\0"),
        "d.py": ("", b"x = 1"),
        "e.txt": ("", b"\xff\xfea\0"),
    }
    blocks = [
        {
            "type": "file",
            "mime_type": kind,
            "base64": b64encode(head).decode(),
            "extras": {"filename": name},
        }
        for name, (kind, head) in {**files, **read}.items()
    ]

    page = open_page(teams)
    reasons = page.post("/supervise/unread", content=json.dumps(blocks)).json()

    assert [reason.partition(":")[0] for reason in reasons] == [
        "pictures cannot be read",
        "it is no text (a picture, or another binary file)",
        "it holds data, not text",
        "",
        "",
        "",
    ]
    assert page.post("/supervise/unread", content="{").status_code == 422


@pytest.mark.parametrize(
    ("changes", "example"),
    [
        ({}, {"id": "one", "request": "Which plum?"}),
        ({"files": []}, None),
        ({"expect": {"status": "partial", "facts": ["x"]}}, None),
        ({"expect": {"workers": ["researcher"]}}, None),
    ],
)
def test_a_listed_team_has_its_models_and_a_row_that_shows_it_well(teams, changes, example):
    write_row(teams, **changes)

    listed = open_page(teams).get("/supervise/teams").json()
    shown = next(each for each in listed if each["name"] == "juice")

    assert shown["models"] == dict.fromkeys(("fast", "standard", "strong"), "embedded")
    assert shown["example"] == example


def test_an_answer_in_markdown_comes_back_as_a_word_document(teams):
    answer = open_page(teams).post(
        "/supervise/answer.docx", content="# Plums\n\n| a |\n|---|\n| 1 |"
    )

    document = docx.Document(io.BytesIO(answer.content))
    assert next(each.text for each in document.paragraphs) == "Plums"
    assert document.core_properties.title == "Plums"
    assert document.tables[0].rows[1].cells[0].text == "1"


def test_the_trace_of_a_run_comes_back_as_its_report_which_no_browser_runs_here(teams):
    trace = {
        "version": 1,
        "run": {"request": "</script><b>"},
        "plans": [],
        "tasks": [],
        "events": [],
    }

    answer = open_page(teams).post("/supervise/report.html", content=json.dumps(trace))

    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.text.startswith("<!doctype html>") and answer.text.count("</script>") == 2


@pytest.mark.parametrize("text", ["no JSON", "[]", "{}", '{"run": {}}', "[" * 100_000])
def test_what_is_no_trace_is_one_line(teams, text):
    answer = open_page(teams).post("/supervise/report.html", content=text)

    assert answer.status_code == 422 and len(answer.json()["detail"]) < 200


@pytest.mark.parametrize("markdown", ["x" * 500_001, "|" * 70 + "\n" + "|-" * 69 + "|\n"])
def test_an_answer_that_no_word_document_can_hold_is_one_line(teams, markdown):
    answer = open_page(teams).post("/supervise/answer.docx", content=markdown)

    assert answer.status_code == 422
    assert "no Word document can be made of this: " in answer.json()["detail"]


def test_of_what_is_too_long_the_rest_is_not_read(teams):
    parts = (b" " * 1_000_000 for _ in range(60))

    answer = open_page(teams).post("/supervise/report.html", content=parts)

    assert answer.status_code == 422 and "at most 50 MB are read" in answer.json()["detail"]


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
@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
    for name in ("answer.docx", "report.html", "unread"):
        assert page.post(f"/supervise/{name}", content="# x").status_code == 401

    known = page.get("/supervise/teams", headers={"Authorization": f"Bearer {token}"})

    assert "juice" in {each["name"] for each in known.json()}


def test_a_broken_file_of_users_lets_nobody_in(teams):
    users = teams.parent / "users.json"
    users.write_text("{")

    answer = open_page(teams, users).get("/supervise/teams")

    assert answer.status_code == 401
    assert str(users) not in answer.text
