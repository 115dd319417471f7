"""The files in which exams are kept: what they hold, how many there are, and broken ones."""

import json
from pathlib import Path

import pytest

from extensions.evals.command import parse_baseline
from extensions.evals.exam import ExamRow, Expectation, read_exam
from extensions.evals.kept_exams import (
    MAX_EXAMS,
    MAX_TEXT_CHARS,
    ExamMissing,
    ExamPages,
    ExamUnreadable,
    keep_exam,
)
from extensions.evals.metrics import RowResult, Score
from extensions.evals.scores import Evaluation, GradedRow
from graph.commands.scaffold import TEMPLATE_FOLDER
from graph.settings import Settings
from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER, load_team
from nodes.errors import FileUnreadable, UsageError
from nodes.errors.redaction import hide_folders, register_secrets

PAGES = ExamPages()
NOTHING = "20260101T000000000000Z-0000"


def make_evaluation(*, request: str = "Which plum?", error: str = "") -> Evaluation:
    row = ExamRow(id="one", request=request, expect=Expectation(facts=("plum",)))
    result = RowResult(error=FileUnreadable(error) if error else None)
    graded = GradedRow(row, result, {"facts": Score(0.5, "not in the answer: plum")})
    return Evaluation(team="juice", models={"fast": "embedded"}, rows=[graded])


@pytest.fixture
def juice(tmp_path) -> Path:
    folder: Path = tmp_path / "teams" / "juice"
    folder.mkdir(parents=True)
    return folder


def test_a_kept_exam_is_listed_and_read_with_its_rows(tmp_path, juice):
    kept = keep_exam(tmp_path, juice, make_evaluation(), threshold=80, against="fast=embedded")

    (listed,) = PAGES.list_kept(tmp_path, "juice")
    exam = PAGES.load_kept(tmp_path, "juice", kept)

    assert (listed["id"], listed["rows"], listed["problem"]) == (kept, 1, "")
    assert (exam["score"], exam["threshold"], exam["against"]) == (50.0, 80.0, "fast=embedded")
    assert exam["rows"][0]["complaints"] == ["facts: not in the answer: plum"]


def test_what_is_kept_is_short_and_names_no_secret_and_no_folder(tmp_path, juice):
    register_secrets(["sk-of-the-exam"])
    long = f"{'plum ' * 10_000} sk-of-the-exam"
    keep_exam(tmp_path, juice, make_evaluation(request=long, error=f"{juice}/a.md sk-of-the-exam"))

    (file,) = tmp_path.rglob("*.json")
    text = file.read_text(encoding="utf-8")

    assert len(text) < 2 * MAX_TEXT_CHARS
    assert "sk-of-the-exam" not in text
    assert str(tmp_path) not in text
    assert "…/a.md" in json.loads(text)["rows"][0]["error"]


def test_only_the_newest_exams_of_a_team_are_kept(tmp_path, juice):
    kept = [keep_exam(tmp_path, juice, make_evaluation()) for _ in range(MAX_EXAMS + 3)]

    assert [each["id"] for each in PAGES.list_kept(tmp_path, "juice")] == sorted(
        kept[3:], reverse=True
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "its text: Invalid JSON"),
        ('{"team": "juice", "score": 1, "ro', "its text: Invalid JSON"),
        ("[1]", "its text: Input should be an object"),
        ('{"team": "juice"}', "score: Field required"),
        ('{"team": "juice", "score": NaN}', "score"),
        ('{"team": "juice", "score": 1, "rows": [{"id": "a"}]}', "rows.0.score: Field required"),
        ("\x00\xff", "its text: Invalid JSON"),
    ],
)
def test_a_damaged_file_is_one_line_in_the_list(tmp_path, juice, content, message):
    keep_exam(tmp_path, juice, make_evaluation())
    (tmp_path / "exams" / "juice" / f"{NOTHING}.json").write_text(content, encoding="latin-1")

    _, damaged = PAGES.list_kept(tmp_path, "juice")

    assert damaged["exam"] is None and message in damaged["problem"]
    assert "\n" not in damaged["problem"]
    with pytest.raises(ExamUnreadable, match="damaged"):
        PAGES.load_kept(tmp_path, "juice", NOTHING)


@pytest.mark.parametrize("name", ["../juice", NOTHING, "", "20260101T000000000000Z-0000/../x"])
def test_a_name_that_is_no_exam_reads_nothing(tmp_path, name):
    (tmp_path / "juice.json").write_text("{}")

    with pytest.raises(ExamMissing):
        PAGES.load_kept(tmp_path, "juice", name)
    assert PAGES.list_kept(tmp_path, "../juice") == []


def test_folders_are_hidden_the_longest_first():
    shown = hide_folders({"a": ["/home/x/teams/b.md", "/home/x"]}, Path("/home/x"), Path("/"))

    assert shown == {"a": ["…/teams/b.md", "…"]}


def test_models_a_team_and_a_strategy_may_be_named_together():
    given = ["single", "./prompts2", "standard=openai:a", "model_fast=embedded"]
    other = parse_baseline(given, "fruit", Settings())

    assert (other.strategy, other.team, other.label) == ("single", "./prompts2", ", ".join(given))
    assert other.settings.model_standard == "openai:a"
    assert other.settings.model_fast == "embedded"
    assert parse_baseline(["single"], "fruit", Settings()).team == "fruit"


@pytest.mark.parametrize(
    ("against", "message"),
    [
        (["a", "b"], "names two teams, 'a' and 'b'"),
        (["single", "step"], "names the strategies step and single"),
        (["model_standrd=openai:a"], "cannot change 'model_standrd'; did you mean"),
        (["temperature=1"], "cannot change 'temperature'"),
        (["standard="], "invalid model"),
        (["standard=gpt-5"], "invalid model"),
    ],
)
def test_anything_else_is_refused_in_a_line(against, message):
    with pytest.raises(UsageError, match=message):
        parse_baseline(against, "fruit", Settings())


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
