"""A kept run becomes a row of its team's exam, with its record."""

import asyncio
import gzip
import shutil
from pathlib import Path

import pytest

from graph import arun
from graph.runs.trace import get_record_path
from graph.settings import Settings
from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER, load_team
from tests.screen import run_supervise
from tests.unit.extensions.replay.juice_team import (
    REQUEST,
    change,
    list_files,
    read_rows,
    run_juice,
)

pytestmark = pytest.mark.slow


def test_a_run_becomes_a_row_that_expects_what_it_has_shown(juice, supervise):
    run_juice(juice)

    assert supervise("case", "last", "--id", "keeps") == 0

    assert "has the row keeps now" in supervise.out
    assert "is yours to add: --expect-fact" in supervise.err
    assert read_rows(juice)[-1] == {
        "id": "keeps",
        "request": REQUEST,
        "expect": {"workers": ["reader"], "sources": ["juice.md"], "status": "passages"},
        "record": "records/keeps.record",
    }
    assert supervise("check", str(juice)) == 0 and "8 rows in its exam" in supervise.out


def test_facts_and_another_ending_are_the_users_to_expect(juice, supervise):
    run_juice(juice)
    facts = ("--expect-fact", "18 months", "--expect-fact", "/in the \\w+/")

    assert supervise("case", "kept", *facts, "--status", "done") == 0

    row = read_rows(juice)[-1]
    assert (row["id"], row["expect"]["status"]) == ("kept", "done")
    assert row["expect"]["facts"] == ["18 months", "/in the \\w+/"]
    assert "yours to add" not in supervise.err


def test_a_record_in_an_exam_names_no_folder_of_the_machine(juice, case):
    here = str(Path.cwd())

    kept = gzip.decompress(get_record_path("kept", Settings()).read_bytes()).decode()
    copied = gzip.decompress(case.read_bytes()).decode()

    assert f"{here}/teams/juice/tools" in kept and here not in copied


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--id", "keeps"), "records/keeps.record: File exists"),
        (("--id", "shelf-life"), "id 'shelf-life' is already used in line 4"),
        (("--id", "../../etc"), "invalid thread id '../../etc'"),
        (("--id", "x", "--expect-fact", "/(/"), "expect.facts.0 is not a regular expression"),
        (("--id", "x", "--team", "nowhere"), "unknown team 'nowhere'"),
        (("--id", "x", "--record", "none.record"), "there is no record none.record"),
    ],
)
def test_a_row_that_cannot_be_added_is_one_line_and_changes_nothing(
    juice, case, supervise, options, said
):
    before = list_files(juice)

    assert supervise("case", "kept", *options) == 2

    assert said in supervise.err and supervise.err.count("\n") == 1
    assert list_files(juice) == before


def test_a_record_that_is_cut_or_has_no_end_is_no_case(juice, case, supervise):
    lines = gzip.decompress(case.read_bytes()).splitlines(keepends=True)
    Path("open.record").write_bytes(gzip.compress(b"".join(lines[:-1])))
    Path("cut.record").write_bytes(gzip.compress(b"".join(lines)[:-9]))
    before = list_files(juice)

    for name in ("open", "cut"):
        assert supervise("case", "--id", "x", "--record", f"{name}.record") == 2
        assert "the run can be no case: its record has no end" in supervise.err

    assert list_files(juice) == before


def test_a_run_that_does_not_replay_equal_is_no_case(juice, case, supervise):
    kept = gzip.decompress(case.read_bytes()).replace(
        b'"status":"passages","plan"', b'"status":"done","plan"'
    )
    Path("other.record").write_bytes(gzip.compress(kept))

    assert supervise("case", "--id", "x", "--record", "other.record") == 2
    assert "the run can be no case: it is not equal in status" in supervise.err
    change(juice / "reader.md", "You look things up.", "You look.")
    assert supervise("case", "kept", "--id", "x") == 3
    assert "differs from the record in: message 1 (system)" in supervise.err


def test_a_run_whose_team_has_no_folder_here_needs_one_named(juice, supervise):
    files = [juice / "sample"]
    asyncio.run(arun(REQUEST, team=load_team(juice), files=files, thread="object"))
    run_juice(juice)
    record = shutil.copy(get_record_path("kept", Settings()), "copied.record")
    moved = juice.rename("teams/moved").rename("teams/pear")

    for options in (("object",), ("kept",), ("--record", str(record))):
        assert supervise("case", *options) == 2
        assert "the run's team has no folder that is known here" in supervise.err
        assert supervise.err.endswith("next: name the folder: --team FOLDER\n")
    moved.rename(juice)
    assert supervise("case", "object", "--team", str(juice)) == 0


@pytest.mark.needs("teams")
@pytest.mark.parametrize(
    ("team", "request_", "file"),
    [
        ("expert_router", "How long may a fixed-term contract be?", "sample"),
        ("organisation", "What does the report say on the revenue?", "sample"),
    ],
)
def test_runs_of_shipped_teams_become_cases(team, request_, file, supervise):
    folder = Path("teams") / team
    shutil.copytree(SHIPPED_TEAMS_FOLDER / team, folder)
    files = ("--file", str(folder / file))
    run_supervise("run", request_, "--team", str(folder), *files, "--thread", "kept", "-q")

    assert supervise("case", "kept") == 0
    assert supervise("eval", str(folder), "--replayed", "--threshold", "100") == 0

    assert f"{team} · 1 row replayed, without a model · " in supervise.out


@pytest.mark.needs("teams")
def test_a_case_of_a_shipped_team_goes_to_a_copy_that_is_the_users(supervise):
    shipped, own = SHIPPED_TEAMS_FOLDER / "expert_router", Path(".supervise/cases/expert_router")
    before = list_files(shipped)
    files = ("--file", str(shipped / "sample"))
    asked = "How long may a fixed-term contract be?"
    run_supervise("run", asked, "--team", "expert_router", *files, "--thread", "kept", "-q")

    assert supervise("case", "kept") == 0
    assert f"{own / 'evals.jsonl'} has the row kept now" in supervise.out
    assert supervise("case", "kept", "--team", "expert_router", "--id", "again") == 0

    assert list_files(shipped) == before
    assert [row["id"] for row in read_rows(own)] == ["kept", "again"]
    assert supervise("eval", str(own.resolve()), "--replayed", "--threshold", "100") == 0


def test_a_replay_runs_no_code_from_a_folder_that_a_record_names(juice, supervise):
    asked = ("How many crates are needed for 500 bottles?", "--team", str(juice))
    run_supervise("run", *asked, "--strategy", "route", "--thread", "kept", "-q")
    other = Path("other")
    other.mkdir()
    (other / "count_crates.py").write_text("open('was_run', 'w')\ncount_crates = None\n")
    lines = gzip.decompress(get_record_path("kept", Settings()).read_bytes()).decode()
    tools = str((juice / "tools").resolve())
    assert tools in lines
    named = lines.replace(tools, str(other.resolve())).encode()
    Path("named.record").write_bytes(gzip.compress(named))

    assert supervise("replay", "--record", "named.record") == 0
    assert supervise("case", "--record", "named.record", "--id", "x", "--team", str(juice)) == 0

    assert not Path("was_run").exists()
    assert supervise("eval", str(juice), "--replayed", "--threshold", "100") == 0
