"""Every shipped team has an exam that can be sat, and that asks enough."""

import pytest

from extensions.evals.exam import read_exam
from graph.commands.scaffold import TEMPLATE_FOLDER
from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER, load_team

TEAMS = sorted(path.parent for path in SHIPPED_TEAMS_FOLDER.glob("*/team.md"))
MIN_ROWS = 20
MIN_OF_A_KIND = 5


@pytest.mark.parametrize("folder", [*TEAMS, TEMPLATE_FOLDER], ids=lambda folder: folder.name)
def test_the_rows_are_well_formed_and_their_files_exist(folder):
    workers = [worker.name for worker in load_team(folder).workers]

    rows, problems = read_exam(folder, workers)

    assert not [str(problem) for problem in problems]
    assert rows


@pytest.mark.parametrize("folder", TEAMS, ids=lambda folder: folder.name)
def test_an_exam_asks_for_plans_for_facts_and_for_refusals(folder):
    expected = [row.expect for row in read_exam(folder)[0]]

    assert len(expected) >= MIN_ROWS
    assert sum(bool(expect.workers or expect.edges) for expect in expected) >= MIN_OF_A_KIND
    assert sum(bool(expect.facts or expect.findings) for expect in expected) >= MIN_OF_A_KIND
    assert sum(expect.expects_refusal for expect in expected) >= MIN_OF_A_KIND


@pytest.mark.parametrize("folder", [*TEAMS, TEMPLATE_FOLDER], ids=lambda folder: folder.name)
def test_an_exam_does_not_ask_what_the_examples_answer(folder):
    taught = {example.request for example in load_team(folder).examples}

    assert not taught & {row.request for row in read_exam(folder)[0]}
