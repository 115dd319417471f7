"""The routes of the live page: what is sent, with which policy, and to whom."""

import json
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from extensions.server import live_page
from extensions.server.live_page import TRACE_PLACE, list_page_routes
from extensions.server.studio_access import build_app
from extensions.server.users_file import add_user
from graph.pages.built_page import BUILT
from graph.settings import Settings


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=list_page_routes()), base_url="http://127.0.0.1:2024")


def test_the_address_without_a_slash_leads_to_the_page(client: TestClient):
    answer = client.get("/supervise", follow_redirects=False)

    assert (answer.status_code, answer.headers["location"]) == (307, "supervise/")
    assert client.get("/supervise").headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("live.js", "text/javascript"), ("live.css", "text/css"), ("report.txt", "text/plain")],
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


def test_the_template_of_a_report_has_one_place_for_a_trace(client: TestClient):
    template = client.get("/supervise/report.txt").text

    assert template.count(f">{json.dumps(TRACE_PLACE)}</script>") == 1
    script = (BUILT / "live.js").read_text(encoding="utf-8")
    assert TRACE_PLACE in script, "the page looks for another place"


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
