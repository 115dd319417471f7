"""`supervise new-team`: a team that works at once, wherever it is made."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from extensions.server import studio_access
from tests.screen import run_supervise
from tests.trusted_files import list_user_folders

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
REQUEST = "Where does the juice come from, and what do 12 crates of 24 bottles cost at 0.85 EUR?"


def test_a_new_team_is_checked_examined_and_run_at_once(capsys):
    assert run_supervise("new-team", "kitchen", "--into", "mine") == 0
    assert "next: supervise check ./mine/kitchen" in capsys.readouterr().out

    assert run_supervise("check", "mine/kitchen") == 0
    assert run_supervise("eval", "mine/kitchen", "--threshold", "100", "-q") == 0
    capsys.readouterr()
    files = ("--file", "mine/kitchen/sample")
    assert run_supervise("run", REQUEST, "--team", "mine/kitchen", *files, "--json", "-q") == 0

    outcome = json.loads(capsys.readouterr().out)
    assert "Lake Constance" in outcome["answer"]["text"]
    assert {task["worker"] for task in outcome["plan"]["tasks"]} == {"calculator", "reader"}


def test_every_file_of_a_new_team_bears_its_name():
    run_supervise("new-team", "kitchen")

    texts = [path.read_text() for path in Path("kitchen").rglob("*") if path.is_file()]
    assert not any("my_team" in text for text in texts)
    assert "# The team kitchen" in Path("kitchen/README.md").read_text()


def test_a_new_team_opens_in_the_development_server(tmp_path):
    run_supervise("new-team", "kitchen")
    config = json.loads(Path("kitchen/langgraph.json").read_text())
    path, _, name = config["graphs"]["kitchen"].partition(":")
    module, _, app = config["http"]["app"].partition(":")
    assert getattr(import_module(module), app) is studio_access.app
    script = (
        "import importlib.util as u; "
        f"spec = u.spec_from_file_location('opened', {path!r}); module = u.module_from_spec(spec); "
        f"spec.loader.exec_module(module); print(module.{name}.name, *module.{name}.nodes)"
    )

    ended = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path / "kitchen",
        env={"PYTHONPATH": str(ROOT), **list_user_folders()},
        capture_output=True,
        text=True,
        check=True,
    )

    assert ended.stdout.startswith("kitchen ")
    assert {"supervisor", "reader", "calculator"} <= set(ended.stdout.split())
    assert config["dependencies"] == ["."]
    assert config["env"]["LANGSMITH_TRACING_V2"] == "false"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Kitchen"], "'Kitchen' is not a valid team name: allowed are lower-case"),
        (["../kitchen"], "is not a valid team name"),
        (["k" * 41], "is not a valid team name"),
        (
            ["taken"],
            "taken exists already. kept: the folder is unchanged. next: choose another name",
        ),
        (["kitchen", "--into", "taken/notes.md"], "cannot create taken/notes.md/kitchen"),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_line(capsys, arguments, message):
    Path("taken").mkdir()
    Path("taken/notes.md").write_text("mine")

    assert run_supervise("new-team", *arguments) == 2

    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert message in err
    assert [path.name for path in Path("taken").iterdir()] == ["notes.md"]
