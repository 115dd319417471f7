"""`supervise eval --worker`: an exam with one worker replaced or added, and all else as it is."""

import json
from pathlib import Path

import pytest

from extensions.evals import evaluate_team
from graph.commands.scaffold import make_team
from tests.screen import run_supervise

pytestmark = pytest.mark.slow

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


def test_a_program_examines_a_team_with_another_worker(juice):
    evaluation = evaluate_team(juice, workers=[str(write_packer())])

    scores = {row.row.id: row.score for row in evaluation.rows}
    assert scores["crates"] < scores["keeps"] == 100


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
