"""The files in which exams are kept: what they hold, how many there are, and broken ones."""

import json
from pathlib import Path

import pytest

from extensions.evals.exam import ExamRow, Expectation
from extensions.evals.kept_exams import (
    MAX_EXAMS,
    MAX_TEXT_CHARS,
    ExamMissing,
    ExamUnreadable,
    keep_exam,
    list_exams,
    load_kept_exam,
)
from extensions.evals.metrics import Score
from extensions.evals.result import RowResult
from extensions.evals.scores import Evaluation, GradedRow
from nodes.errors import FileUnreadable
from nodes.errors.redaction import hide_folders, register_secrets

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

    (listed,) = list_exams(tmp_path, "juice")
    exam = load_kept_exam(tmp_path, "juice", kept)

    assert (listed.id, listed.rows, listed.problem) == (kept, 1, "")
    assert (exam.score, exam.threshold, exam.against) == (50.0, 80.0, "fast=embedded")
    assert exam.rows[0].complaints == ("facts: not in the answer: plum",)


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

    assert [each.id for each in list_exams(tmp_path, "juice")] == sorted(kept[3:], reverse=True)


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

    _, damaged = list_exams(tmp_path, "juice")

    assert damaged.exam is None
    assert message in damaged.problem
    assert "\n" not in damaged.problem
    with pytest.raises(ExamUnreadable, match="damaged"):
        load_kept_exam(tmp_path, "juice", NOTHING)


@pytest.mark.parametrize("name", ["../juice", NOTHING, "", "20260101T000000000000Z-0000/../x"])
def test_a_name_that_is_no_exam_reads_nothing(tmp_path, name):
    (tmp_path / "juice.json").write_text("{}")

    with pytest.raises(ExamMissing):
        load_kept_exam(tmp_path, "juice", name)
    assert list_exams(tmp_path, "../juice") == []


def test_folders_are_hidden_the_longest_first():
    shown = hide_folders({"a": ["/home/x/teams/b.md", "/home/x"]}, Path("/home/x"), Path("/"))

    assert shown == {"a": ["…/teams/b.md", "…"]}
