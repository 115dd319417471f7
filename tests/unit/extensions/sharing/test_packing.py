"""`supervise pack-team`: the same bytes for the same team, without what others should not have."""

import json
import os
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from extensions.sharing.packing import OWN_LICENCE
from graph.settings import Settings
from graph.teams.team_loader import list_shipped_teams, load_team
from tests.unit.extensions.sharing.fruit_team import write_folder

pytestmark = pytest.mark.needs("sharing")


@pytest.fixture
def fruit(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "source")


def read_manifest(archive: Path) -> dict[str, object]:
    with zipfile.ZipFile(archive) as opened:
        manifest: dict[str, object] = json.loads(opened.read("manifest.json"))
    return manifest


def test_the_bytes_do_not_depend_on_times_modes_or_the_order_of_files(fruit, tmp_path, supervise):
    assert supervise("pack-team", str(fruit), "--out", "one.zip") == 0
    for path in sorted(fruit.rglob("*.md"), reverse=True):
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
        path.chmod(0o755)
        os.utime(path, (1, 1))
    assert supervise("pack-team", str(fruit), "--out", "two.zip") == 0

    assert Path("one.zip").read_bytes() == Path("two.zip").read_bytes()


def test_what_is_packed_can_be_added(fruit, supervise):
    assert supervise("pack-team", str(fruit), "--version", "9" * 5000) == 0
    assert supervise("pack-team", str(fruit), "--version", "1.2") == 0
    assert supervise("add-team", "fruit.team.zip", "--yes") == 0

    assert "  1.2, MIT License, 5 files" in supervise.out
    assert load_team("fruit").workers[1].tools == ("peel",)
    assert supervise("pack-team", "fruit", "--out", "again.zip") == 0
    assert Path("again.zip").read_bytes() == Path("fruit.team.zip").read_bytes()


def test_keys_caches_hidden_files_and_links_do_not_travel(fruit, supervise):
    for name in (".env", "server.pem", "tools/__pycache__/peel.pyc", ".git/config"):
        (fruit / name).parent.mkdir(exist_ok=True)
        (fruit / name).write_text("x")

    assert supervise("pack-team", str(fruit)) == 0

    with zipfile.ZipFile("fruit.team.zip") as opened:
        names = opened.namelist()
    assert [each for each in names if "/" in each] == [
        *("fruit/LICENSE", "fruit/counter.md", "fruit/peeler.md", "fruit/team.md"),
        "fruit/tools/peel.py",
    ]
    assert "left out: server.pem (may be a key)" in supervise.out
    (fruit / "more.txt").symlink_to("/etc/passwd")
    assert supervise("pack-team", str(fruit)) == 2
    assert "more.txt is a link" in supervise.err


@pytest.mark.parametrize(
    "line",
    [
        "key = 'AKIAQ3XWN5TZ7LKJ2M4B'",
        "-----BEGIN RSA PRIVATE KEY-----",
        "token: ghp_" + "a1" * 18,
        "the user's own key: own-key-0123456789",
    ],
)
def test_a_file_with_what_may_be_a_key_is_not_packed(fruit, supervise, monkeypatch, line):
    monkeypatch.setenv("OPENAI_API_KEY", "own-key-0123456789")
    (fruit / "sample.txt").write_text(f"nothing\n{line}\n")

    assert supervise("pack-team", str(fruit)) == 2
    assert "sample.txt holds what may be a key, in line 2" in supervise.err
    assert not Path("fruit.team.zip").exists()
    assert supervise("pack-team", str(fruit), "--with-keys") == 0


def test_a_key_that_is_written_into_an_entry_of_a_server_is_not_packed(fruit, supervise):
    entry = {"command": "orchard", "env": {"TOKEN": "written-out-01"}}
    (fruit / "mcp.json").write_text(json.dumps({"mcpServers": {"orchard": entry}}))

    assert supervise("pack-team", str(fruit)) == 2
    assert "mcp.json holds what may be a key, in line 1" in supervise.err


def test_the_result_of_the_last_exam_travels_with_its_model_and_date(fruit, supervise):
    (fruit / "evals.jsonl").write_text('{"id": "a", "request": "Peel.", "expect": {}}\n')
    folder = Settings().home / "exams" / "fruit"
    folder.mkdir(parents=True)
    exam = {"team": "fruit", "models": {"fast": "openai:gpt-5-mini"}, "score": 91.23}
    other = {**exam, "score": 12.0, "against": "single"}
    (folder / "20260301T101500000000Z-0a1b.json").write_text(json.dumps(exam))
    (folder / "20260302T101500000000Z-0a1b.json").write_text(json.dumps(other))

    assert supervise("pack-team", str(fruit)) == 0

    assert read_manifest(Path("fruit.team.zip"))["exam"] == {
        "score": 91.2,
        "models": {"fast": "openai:gpt-5-mini"},
        "date": "2026-03-01",
    }
    assert supervise("add-team", "fruit.team.zip") == 2
    said = "Exam: 1 row; 91 % with openai:gpt-5-mini on 2026-03-01, says whoever packed it"
    assert said in supervise.out


def test_an_invalid_team_is_not_packed(fruit, supervise):
    (fruit / "peeler.md").write_text("---\ndescription: Peels.\ntools: [cut]\n---\nPeel.\n")

    assert supervise("pack-team", str(fruit)) == 2
    assert "fruit/peeler.md:3: unknown tool 'cut'" in supervise.err


def test_the_archive_is_a_zip_that_can_be_written(fruit, supervise):
    assert supervise("pack-team", str(fruit), "--out", "fruit.tar") == 2
    assert supervise("pack-team", str(fruit), "--out", "no/such/folder.zip") == 2
    assert "cannot write no/such/folder.zip" in supervise.err


@pytest.mark.needs("teams")
@pytest.mark.slow
def test_every_shipped_team_can_be_packed_and_added_under_another_name(supervise):
    for folder in list_shipped_teams():
        name = f"my_{folder.name}"[:40]
        assert supervise("pack-team", folder.name, "--with-keys") == 0
        assert f", {OWN_LICENCE}, " in supervise.out
        assert supervise("add-team", f"{folder.name}.team.zip", "--name", name, "--yes") == 0
        ours, theirs = load_team(folder.name), load_team(name)
        assert [each.tools for each in ours.workers] == [each.tools for each in theirs.workers]


def test_the_licence_of_shipped_teams_is_that_of_the_project():
    project = Path(__file__).parents[4] / "pyproject.toml"

    assert f'license = "{OWN_LICENCE}"' in project.read_text()


def test_a_packed_file_has_no_mode_that_runs(fruit, supervise):
    (fruit / "tools" / "peel.py").chmod(0o777)
    assert supervise("pack-team", str(fruit)) == 0

    with zipfile.ZipFile(BytesIO(Path("fruit.team.zip").read_bytes())) as opened:
        modes = {entry.external_attr >> 16 for entry in opened.infolist()}
        times = {entry.date_time for entry in opened.infolist()}
    assert (modes, times) == ({0o100644}, {(1980, 1, 1, 0, 0, 0)})
