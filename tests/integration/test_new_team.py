"""A team that new-team makes works at once; an exam of it with other workers."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from extensions.server import studio_access
from graph.commands.scaffold import make_team
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


def test_every_example_of_a_new_team_is_answered_and_proved_without_a_model(capsys):
    folder = make_team("kitchen", Path("mine"))
    examples = yaml.safe_load((folder / "examples.yaml").read_text())
    files = ("--team", str(folder), "--file", str(folder / "sample"))

    for example in examples:
        assert run_supervise("run", example["request"], *files, "--json", "-q") == 0

        outcome = json.loads(capsys.readouterr().out)
        assert len(outcome["results"]) == len(example["plan"]["tasks"])
        assert all(report["claims"] for report in outcome["results"].values())


def test_every_file_of_a_new_team_bears_its_name():
    run_supervise("new-team", "kitchen")

    texts = [path.read_text() for path in Path("kitchen").rglob("*") if path.is_file()]
    assert not any("my_team" in text for text in texts)
    assert "# The team kitchen" in Path("kitchen/README.md").read_text()


def test_the_tests_of_a_new_team_run_as_its_readme_says():
    run_supervise("new-team", "kitchen")

    readme = Path("kitchen/README.md").read_text()
    command = next(line for line in readme.splitlines() if line.startswith("python -m pytest"))
    tested = subprocess.run([sys.executable, "-m", "pytest", command.split()[3]], check=False)
    assert tested.returncode == 0
    assert 'bin/test "$PWD/kitchen"' in command and (ROOT / "bin/test").exists()


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


CRATES = {"id": "crates", "request": "How many crates are needed for 500 bottles?"}
KEEPS = {"id": "keeps", "request": "How long does the juice keep?", "files": ["sample"]}
PACKER = "---\ndescription: Counts the crates that a number of bottles needs.\n{}---\nYou count.\n"


@pytest.fixture
def juice() -> Path:
    """A team with an exam of two rows, which asks its packer for crates."""
    folder = make_team("juice", Path("teams"))
    rows = [
        {**CRATES, "expect": {"facts": ["21 crates"]}},
        {**KEEPS, "expect": {"facts": ["18 months"]}},
    ]
    (folder / "evals.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def write_packer(keys: str = "") -> Path:
    file = Path("new/packer.md")
    file.parent.mkdir(exist_ok=True)
    file.write_text(PACKER.format(keys))
    return file


def read_files(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*.*") if path.is_file() and path.suffix != ".pyc")
    return {str(path): path.read_bytes() for path in files}


def test_a_replaced_worker_changes_the_rows_that_need_it_and_no_file(juice, capsys):
    before, packer = read_files(juice), write_packer()

    assert run_supervise("eval", str(juice), "-q", "--worker", str(packer)) == 3
    table = capsys.readouterr().out
    assert run_supervise("eval", str(juice), "-q", "--worker", str(packer), "--json") == 3
    output = json.loads(capsys.readouterr().out)

    assert "with packer.md: juice · 2 rows" in table
    differing = table.partition("rows that differ\n")[2]
    assert differing.startswith("crates  100.0") and "keeps" not in differing
    assert [row["id"] for row in output["differing_rows"]] == ["crates"]
    assert output["score"] == 100 > output["against"]["score"] and not output["passed"]
    assert read_files(juice) == before


def test_an_added_worker_is_examined_with_the_others(juice, capsys):
    (juice / "packer.md").unlink()
    (juice / "examples.yaml").unlink()
    packer = write_packer("tools: [count_crates]\n")

    assert run_supervise("eval", str(juice), "-q") == 3
    capsys.readouterr()
    assert run_supervise("eval", str(juice), "-q", "--worker", str(packer), "--json") == 0
    output = json.loads(capsys.readouterr().out)

    (changed,) = output["differing_rows"]
    assert changed["id"] == "crates" and changed["score"] < changed["against"] == 100
    assert output["passed"] and not (juice / "packer.md").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--worker", "nowhere.md"], "nowhere.md: cannot be read: No such file"),
        (["--worker", "teams/juice/team.md"], "team.md is no worker's file"),
        (["--worker", "new/packer.md", "--against", "strong=embedded"], "without --against"),
        (["--worker", "new/packer.md", "--worker", "teams/juice/packer.md"], "two files are for"),
        (["--worker", "new/packer.md"], "new/packer.md:3: tool 'calculate' already belongs to"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line_before_anything_runs(
    juice, capsys, arguments, message
):
    write_packer("tools: [calculate]\n")

    assert run_supervise("eval", str(juice), "-q", *arguments) == 2

    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) == 1 and message in err
