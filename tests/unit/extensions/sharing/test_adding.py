"""`supervise add-team`: what is shown, agreed to, locked, and asked for again."""

import json
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from graph.extensions import find_extensions
from graph.teams.team_loader import list_teams, load_team
from graph.user_state import get_teams_folder
from nodes.errors import TeamInvalid
from tests.pseudo_terminal import run_in_terminal
from tests.unit.extensions.sharing.fruit_team import FILES, MARK, make_zip, write_folder

pytestmark = pytest.mark.needs("sharing")
SERVER = {"mcpServers": {"orchard": {"command": "orchard", "args": ["--all"]}}}


@pytest.fixture
def fruit(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "source")


@pytest.fixture
def added(fruit, supervise) -> Path:
    """The folder of the team after the user has agreed to it."""
    assert supervise("add-team", str(fruit), "--yes") == 0
    return get_teams_folder() / "fruit"


def test_the_sheet_says_what_a_team_is_and_asks_for(fruit, supervise):
    code = (
        "import os, socket\nfrom langchain_core.tools import tool\nimport orchards\n"
        "KEY = os.environ['ORCHARD_KEY']\nURL = 'https://api.orchard.example/v1'\n"
        "ACCESS = {'reads': ['private'], 'sends': 'anything'}\n\n\n"
        "@tool\ndef peel(x: str) -> str:\n    'Peel.'\n    return socket.gethostname()\n"
    )
    (fruit / "tools" / "peel.py").write_text(code)
    (fruit / "mcp.json").write_text(json.dumps(SERVER))
    (fruit / "evals.jsonl").write_text('{"id": "a", "request": "Peel.", "expect": {}}\n')

    assert supervise("add-team", str(fruit)) == 2

    for line in (
        "fruit: Counts and peels fruit.",
        "  no version, MIT License, 7 files",
        "  peeler (peel): Peels any fruit.",
        "  peel: reads your data, sends anything",
        "  peel of peeler",
        "  orchard --all",
        "  api.orchard.example (in tools/peel.py)",
        "  tools/peel.py may connect to the network (line 1), read environment variables (line 4)",
        "  ORCHARD_KEY",
        "  orchards",
        "Not installed here: orchards",
        "Exam: 1 row, no result",
    ):
        assert line in supervise.out
    assert not Path(MARK).exists()


def test_json_is_one_object_with_the_sheet(fruit, supervise):
    assert supervise("add-team", str(fruit), "--json") == 2
    looked = json.loads(supervise.out)
    assert supervise("add-team", str(fruit), "--json", "--yes") == 0
    done = json.loads(supervise.out)

    assert looked["asks"]["tools"] == ["calculate of counter", "peel of peeler"]
    assert looked["python"]["tools/peel.py"]["abilities"] == {"write or delete files": 6}
    assert (looked["is_added"], done["is_added"]) == (False, True)
    assert looked["sha256"] == done["sha256"]


def test_an_added_team_is_found_by_its_name_and_loaded(added, supervise):
    assert load_team("fruit").own_tools["peel"].sends == "nothing"
    assert supervise("teams", "fruit") == 0
    assert f"folder: {added}" in supervise.out


@pytest.mark.slow
def test_a_human_is_asked_at_a_terminal(fruit):
    no = run_in_terminal("add-team", str(fruit), columns=80, sends="n\n")
    assert not (get_teams_folder() / "fruit").exists()
    yes = run_in_terminal("add-team", str(fruit), columns=80, sends="y\n")

    assert "Add it? [y/N]" in no and "you did not agree" in no
    assert max(map(len, no.split("\n"))) <= 80 + len(str(fruit))
    assert "--team fruit" in yes
    assert (get_teams_folder() / "fruit" / "team.md").exists()


def test_adding_the_same_again_asks_nothing(added, fruit, supervise):
    assert supervise("add-team", str(fruit)) == 0
    assert "nothing has changed" in supervise.out


@pytest.mark.parametrize(
    ("path", "content", "difference"),
    [
        ("counter.md", "---\ndescription: Counts.\n---\nSend all of it.\n", "counter.md"),
        ("tools/peel.py", "print('changed')\n", "tools/peel.py"),
        ("tools/peel.so", "\x7fELF", "tools/peel.so is new"),
        ("tools/sitecustomize.py", "", "tools/sitecustomize.py is new"),
        ("mcp.json", "{}", "mcp.json is new"),
    ],
)
def test_a_team_that_has_changed_on_disk_is_not_loaded(added, supervise, path, content, difference):
    (added / path).write_text(content)

    for words in (("run", "Peel.", "--team", "fruit"), ("check", "fruit"), ("teams", "fruit")):
        assert supervise(*words) == 2
        assert "TEAM_CHANGED" in supervise.err and difference in supervise.err
        assert f"next: supervise add-team {added}" in supervise.err
    with pytest.raises(TeamInvalid):
        load_team(added)
    assert not Path(MARK).exists()


def test_a_file_that_is_gone_or_a_link_is_a_change_too(added):
    (added / "counter.md").unlink()
    with pytest.raises(TeamInvalid, match=r"counter\.md"):
        load_team("fruit")
    (added / "counter.md").symlink_to("/etc/passwd")
    with pytest.raises(TeamInvalid, match="link"):
        load_team("fruit")


def test_a_team_within_another_one_is_checked_too(added, tmp_path):
    outer = write_folder(
        tmp_path, "outer", **{"peeler.md": "---\ndescription: Peels.\nteam: fruit\n---\n"}
    )
    assert load_team(outer).workers
    (added / "counter.md").write_text("---\ndescription: x\n---\nx\n")

    with pytest.raises(TeamInvalid, match="not as you agreed"):
        load_team(outer)


def test_what_python_and_desktops_leave_in_a_folder_is_no_change(added):
    (added / "tools" / "__pycache__").mkdir()
    (added / "tools" / "__pycache__" / "peel.pyc").write_bytes(b"x")
    (added / ".DS_Store").write_bytes(b"x")

    assert load_team("fruit").name == "fruit"


def test_one_can_agree_to_an_own_change(added, supervise):
    (added / "counter.md").write_text("---\ndescription: Counts pears.\n---\nCount pears.\n")

    assert supervise("add-team", str(added), "--yes") == 0

    assert "counter.md: changed" in supervise.out
    assert "It no longer asks for\n  tool: calculate of counter" in supervise.out
    assert load_team("fruit").workers[0].description == "Counts pears."


def test_a_lock_that_another_program_has_written_counts_for_nothing(added):
    lock = get_teams_folder().parent / "teams.lock.json"
    (added / "counter.md").write_text("---\ndescription: x\n---\nSend it.\n")
    content = json.loads(lock.read_text())
    consent = content["teams"]["fruit"]
    consent["sha256"] = "0" * 64
    lock.write_text(json.dumps(content))

    with pytest.raises(TeamInvalid, match="this user did not write it"):
        load_team("fruit")
    lock.write_text("{")
    with pytest.raises(TeamInvalid, match="cannot be read"):
        load_team("fruit")


def test_a_folder_that_was_put_among_the_added_teams_is_not_loaded(added, supervise):
    write_folder(get_teams_folder(), "apples")

    assert supervise("run", "Peel.", "--team", "apples") == 2
    assert "you have not agreed to it" in supervise.err
    assert supervise("add-team", str(get_teams_folder() / "apples"), "--yes") == 0
    assert load_team("apples").name == "apples"


UPDATES: dict[str, tuple[dict[str, str], str]] = {
    "tool": (
        {"counter.md": "---\ndescription: Counts.\ntools: [web_search]\n---\nCount.\n"},
        "tool: web_search of counter",
    ),
    "declared access": (
        {"tools/peel.py": FILES["tools/peel.py"].decode().replace('"nothing"', '"anything"')},
        "access: peel reads nothing of yours, sends anything",
    ),
    "program": ({"mcp.json": json.dumps(SERVER)}, "program to start: orchard --all"),
    "address in code": (
        {"tools/peel.py": FILES["tools/peel.py"].decode() + "# https://evil.example/x\n"},
        "address: evil.example",
    ),
    "address in instructions": (
        {"counter.md": "---\ndescription: Counts.\n---\nAsk http://evil.example.\n"},
        "address: evil.example",
    ),
    "Python file": ({"tools/slice.py": "x = 1\n"}, "Python file: tools/slice.py"),
    "ability": (
        {"tools/peel.py": FILES["tools/peel.py"].decode() + "import subprocess\n"},
        "ability of its Python: tools/peel.py may start programs",
    ),
    "variable": (
        {"tools/peel.py": FILES["tools/peel.py"].decode() + "import os\nos.environ['A_KEY']\n"},
        "environment variable: A_KEY",
    ),
    "package": (
        {"tools/peel.py": FILES["tools/peel.py"].decode() + "import orchards\n"},
        "package: orchards",
    ),
    "server elsewhere": (
        {"counter.md": "---\ndescription: C.\nremote: https://evil.example\ngraph: g\n---\n"},
        "effect outside: evil.example of counter",
    ),
}


@pytest.mark.parametrize("name", UPDATES)
def test_a_version_that_asks_for_more_needs_a_consent_of_its_own(name, added, fruit, supervise):
    changes, line = UPDATES[name]
    for path, content in changes.items():
        (fruit / path).write_text(content)

    assert supervise("add-team", str(fruit), "--yes") == 2
    assert f"  {line}" in supervise.out
    assert "it asks for more than you agreed to" in supervise.err
    assert load_team("fruit").workers[0].tools == ("calculate",)

    assert supervise("add-team", str(fruit), "--yes", "--accept-more") == 0
    assert load_team("fruit").name == "fruit"


def test_a_version_that_asks_for_no_more_needs_only_yes(added, fruit, supervise):
    (fruit / "counter.md").write_text(FILES["counter.md"].decode() + "Count twice.\n")

    assert supervise("add-team", str(fruit)) == 2
    assert supervise("add-team", str(fruit), "--yes") == 0

    assert "counter.md: changed" in supervise.out and "nothing more" in supervise.out
    assert "Workers" not in supervise.out
    assert "twice" in load_team("fruit").workers[0].instructions


def test_changed_code_of_which_reading_shows_too_little_counts_as_more(fruit, supervise):
    code = FILES["tools/peel.py"].decode() + "\neval('1')\n"
    (fruit / "tools" / "peel.py").write_text(code)
    assert supervise("add-team", str(fruit), "--yes") == 0
    (fruit / "tools" / "peel.py").write_text(code.replace("'1'", "'2'"))

    assert supervise("add-team", str(fruit), "--yes") == 2
    assert "reading does not show what it does: tools/peel.py" in supervise.err


@pytest.mark.needs("teams")
def test_a_team_does_not_take_the_name_of_another_one(tmp_path, supervise):
    folder = write_folder(tmp_path, "market_analysis")

    assert supervise("add-team", str(folder), "--yes") == 2
    assert (
        "there is a team market_analysis already" in supervise.err
        and "--name NAME" in supervise.err
    )
    assert supervise("add-team", str(folder), "--yes", "--name", "my_market") == 0
    assert load_team("my_market").name == "my_market"
    assert supervise("add-team", str(folder), "--yes", "--name", "../x") == 2
    assert "is no name of a team" in supervise.err


class Human:
    """Answers at a terminal, and does something before."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        self._act()
        return "y\n"


def test_what_is_shown_is_installed_though_the_archive_changes_meanwhile(
    tmp_path, supervise, monkeypatch
):
    archive = tmp_path / "fruit.zip"
    archive.write_bytes(make_zip(FILES))
    evil = make_zip({**FILES, "counter.md": b"---\ndescription: Evil.\n---\nEvil.\n"})
    monkeypatch.setattr(sys, "stdin", Human(lambda: archive.write_bytes(evil)))
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)

    assert supervise("add-team", "fruit.zip") == 0

    assert "Counts crates." in supervise.out
    assert "Evil" not in (get_teams_folder() / "fruit" / "counter.md").read_text()


def test_an_added_team_in_a_folder_that_cannot_be_written_ends_in_one_line(
    fruit, supervise, user_folder
):
    get_teams_folder().parent.mkdir(parents=True)
    get_teams_folder().write_text("a file")

    assert supervise("add-team", str(fruit), "--yes") == 2
    assert supervise.err.startswith("error[OUTPUT_FAILED]") and supervise.err.count("\n") == 1


def test_what_a_killed_process_left_is_removed_and_never_a_team(added, fruit, supervise):
    left = get_teams_folder() / ".adding-killed" / "fruit"
    write_folder(left.parent, "fruit")
    (fruit / "counter.md").write_text(FILES["counter.md"].decode() + "More.\n")

    assert left not in list_teams()
    assert supervise("add-team", str(fruit), "--yes") == 0
    assert [each.name for each in get_teams_folder().iterdir()] == ["fruit"]


def test_links_and_devices_in_a_folder_are_refused(fruit, supervise):
    (fruit / "notes.md").symlink_to("/etc/passwd")
    assert supervise("add-team", str(fruit), "--yes") == 2
    assert "notes.md is a link" in supervise.err
    (fruit / "notes.md").unlink()
    os.mkfifo(fruit / "notes.md")
    assert supervise("add-team", str(fruit), "--yes") == 2
    assert "notes.md is not a regular file" in supervise.err


def test_of_a_folder_what_a_run_does_not_use_is_left_out(fruit, supervise):
    for name in (".env", "conftest.py", "tools/peel.so", "tests/test_peel.py", "studio.py"):
        (fruit / name).parent.mkdir(exist_ok=True)
        (fruit / name).write_text("x")

    assert supervise("add-team", str(fruit), "--yes") == 0

    assert "Left out: .env, conftest.py, studio.py, tests/test_peel.py, tools/peel.so" in (
        supervise.out
    )
    installed = {path.name for path in (get_teams_folder() / "fruit").rglob("*")}
    assert installed == {"team.md", "peeler.md", "counter.md", "tools", "peel.py", "LICENSE"}


def test_a_team_of_an_installed_package_is_shown_without_importing_it(
    tmp_path, supervise, monkeypatch
):
    package = tmp_path / "site" / "orchard_teams"
    write_folder(package)
    mark = "raise SystemExit('imported')\n"
    (package / "__init__.py").write_text(mark)
    (package / "fruit" / "__init__.py").write_text(mark)
    info = tmp_path / "site" / "orchard_teams-2.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.4\nName: orchard-teams\nVersion: 2.1\nLicense-Expression: 0BSD\n"
    )
    (info / "entry_points.txt").write_text(
        "[supervisor_worker.teams]\nfruit = orchard_teams.fruit\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert version("orchard-teams") == "2.1"

    assert supervise("add-team", "orchard-teams", "--yes") == 0

    assert "  2.1, 0BSD, 5 files" in supervise.out
    assert "from package orchard-teams 2.1" in supervise.out
    assert "orchard_teams" not in sys.modules and not Path(MARK).exists()
    assert load_team("fruit").name == "fruit"
    assert supervise("add-team", "fruit") == 0


def test_without_the_folder_the_consent_is_not_an_update(added, fruit, supervise):
    for path in sorted(added.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    added.rmdir()

    assert supervise("add-team", str(fruit)) == 2
    assert "Workers" in supervise.out


def test_a_source_that_is_not_there_is_said_so(supervise):
    assert supervise("add-team", "no_such_thing") == 2
    assert "there is no folder, archive or package no_such_thing" in supervise.err


def test_the_extension_names_its_folder_for_teams():
    folders = [folder for each in find_extensions() for folder in each.list_team_folders()]

    assert get_teams_folder() in folders
