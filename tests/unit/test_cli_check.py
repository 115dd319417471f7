"""`supervise check`: what is wrong with a team, or with each team of a folder."""

from pathlib import Path

import pytest


def test_check_lists_every_problem_of_a_team(supervise):
    folder = Path("fruit")
    folder.mkdir()
    (folder / "team.md").write_text("---\ndescription: Fruit.\nmax_task: 1\n---\n")
    (folder / "counter.md").write_text("---\ndescription: Counts.\ntier: quick\n---\nCount.\n")

    assert supervise("check", "./fruit") == 2

    assert "fruit/team.md:3: unknown key 'max_task'; did you mean 'max_tasks'?" in supervise.out
    assert "fruit/counter.md:3: tier is 'quick'" in supervise.out
    assert "2 problems" in supervise.err


def write_fruit_team(folder, tool="peel"):
    (folder / "tools").mkdir(parents=True)
    (folder / "team.md").write_text("---\ndescription: Fruit.\n---\nCount.\n")
    (folder / "counter.md").write_text(f"---\ndescription: Counts.\ntools: [{tool}]\n---\nCount.\n")
    (folder / "tools" / "peel.py").write_text(
        "from langchain_core.tools import tool\n\n@tool\ndef peel(fruit) -> int:\n    'Peel.'\n"
    )


@pytest.mark.slow
def test_check_lists_the_problems_of_a_tool_beside_those_of_its_team(supervise):
    write_fruit_team(Path("fruit"), tool="peeel")

    assert supervise("check", "./fruit") == 2

    assert "fruit/counter.md:3: unknown tool 'peeel'; did you mean 'peel'?" in supervise.out
    assert "fruit/tools/peel.py:4: parameter 'fruit' has no type" in supervise.out


@pytest.mark.slow
def test_check_examines_each_team_of_a_folder_of_teams(supervise):
    write_fruit_team(Path("teams", "fruit"))
    assert supervise("new-team", "kitchen", "--into", "teams") == 0

    assert supervise("check", "teams") == 2

    assert "teams is a folder of 2 teams" in supervise.out
    assert "teams/kitchen: valid" in supervise.out
    assert "teams/fruit: 1 problem. next: fix it" in supervise.err
    assert "teams: 1 of 2 teams cannot be used. next: fix fruit" in supervise.err


def test_a_folder_without_a_team_is_answered_with_how_one_is_named_or_made(supervise):
    Path("notes").mkdir()

    assert supervise("check", "./notes") == 2

    assert "has no team.md" in supervise.out
    assert "name the folder of a team, or make one: supervise new-team NAME" in supervise.err


def test_a_run_with_a_folder_of_teams_is_answered_with_their_names(supervise):
    write_fruit_team(Path("teams", "fruit"))

    assert supervise("run", "Count.", "--team", "teams") == 2

    assert "is a folder of teams; choose one of them: fruit" in supervise.err


def test_a_file_is_not_taken_for_the_name_of_a_team(supervise):
    Path("notes.md").write_text("Notes.")

    assert supervise("check", "notes.md") == 2

    assert "notes.md: is not a folder; a team is a folder of Markdown files" in supervise.out


def test_check_says_that_a_team_is_good_and_what_a_worker_with_two_ways_cannot_do(supervise):
    assert supervise("check", "market_analysis") == 0
    assert "valid" in supervise.out
    (line,) = [line for line in supervise.err.splitlines() if line.startswith("note")]
    assert "warning" not in supervise.err
    assert "worker researcher combines private data (search_documents)" in line


def test_check_warns_of_a_team_that_is_hard_to_choose_in_and_accepts_it(supervise):
    folder = Path("fruit")
    folder.mkdir()
    (folder / "team.md").write_text("---\ndescription: Fruit.\n---\nCount.\n")
    for number in range(8):
        described = f"---\ndescription: Counts the crates of apples in store {number}.\n---\n"
        (folder / f"counter{number}.md").write_text(f"{described}Do the work as well as you can.\n")

    assert supervise("check", "./fruit") == 0

    warnings = [line for line in supervise.err.splitlines() if line.startswith("warning: ")]
    assert warnings[0].startswith("warning: 8 workers, more than 7")
    assert sum("descriptions of" in line and "overlap" in line for line in warnings) == 28
    assert sum("add little to its description" in line for line in warnings) == 8
