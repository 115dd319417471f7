"""An exam's file, as its author may get it wrong."""

import json
from pathlib import Path

import pytest

from extensions.evals.exam import Exam, ExamInvalid, ExamRow, load_exam, read_exam
from nodes.errors import UsageError

WORKERS = ("researcher", "analyst")
GOOD = {"id": "one", "request": "What is the yield?", "expect": {"workers": ["analyst"]}}


def make_line(**changes: object) -> str:
    return json.dumps({**GOOD, **changes})


def list_problems(folder: Path, *lines: str) -> list[str]:
    (folder / "evals.jsonl").write_text("\n".join(lines), encoding="utf-8")
    _, found = read_exam(folder, WORKERS)
    return [f"{problem.line}: {problem.text}" for problem in found]


def test_a_good_exam_is_read_whole_blank_lines_and_all(tmp_path):
    (tmp_path / "evals.jsonl").write_text(f"\ufeff{make_line()}\r\n\n{make_line(id='two')}\n")

    exam = load_exam(tmp_path, WORKERS)

    assert [row.id for row in exam.rows] == ["one", "two"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("{", "is not JSON: Expecting property name enclosed in double quotes, column 2"),
        ("[1]", "a row must be an object with id, request, files, worker, record, expect"),
        ('{"id": "x", "id": "y"}', "key 'id' appears twice"),
        ("[" * 100_000, "nested too deeply"),
        (make_line(id="a b"), "id is 'a b'; allowed: 1 to 60 letters"),
        (make_line(id=7), "id is 7; allowed"),
        (make_line(request=" "), "request is ' '; allowed: a string that is not empty"),
        (make_line(files="a.md"), "files is 'a.md'; allowed: a list of paths"),
        (make_line(files=["a.md"]), "files.0 is 'a.md', which does not exist; paths begin at"),
        (make_line(files=["/etc/hosts"]), "files.0 is '/etc/hosts', which is absolute"),
        (make_line(record="/x.record"), "record is '/x.record'; allowed: records/NAME.record in"),
        (make_line(record="records/../x.record"), "allowed: records/NAME.record in the team's"),
        (make_line(record="x.record"), "record is 'x.record'; allowed: records/NAME.record in"),
        (make_line(record="records/x.record"), "'records/x.record', which does not exist in"),
        (make_line(expects={}), "unknown key 'expects'; did you mean 'expect'?"),
        (make_line(expect={}), "expect is empty; it must be an object with any of workers, edges"),
        (make_line(expect={"worker": ["analyst"]}), "unknown key 'expect.worker'; did you mean"),
        (make_line(expect={"zzz": 1}), "unknown key 'expect.zzz'; known keys: workers, edges"),
        (make_line(expect={"workers": ["analist"]}), "not a worker of the team; did you mean"),
        (make_line(expect={"workers": ["cook"]}), "not a worker of the team; the team has res"),
        (make_line(expect={"workers": []}), "expect is empty"),
        (make_line(expect={"edges": [["analyst"]]}), "expect.edges.0.1 is missing; it must be a"),
        (make_line(expect={"edges": [["cook", "analyst"]]}), "0.0 is 'cook', which is not a work"),
        (make_line(expect={"facts": [12]}), "expect.facts.0 is 12; allowed: a list of strings"),
        (make_line(expect={"facts": ["/(/"]}), "expect.facts.0 is not a regular expression"),
        (make_line(expect={"facts": [" "]}), "expect.facts.0 is ' '"),
        (make_line(expect={"findings": [{}]}), "expect.findings.0 is empty; add any of file"),
        (make_line(expect={"findings": [{"lin": 1}]}), "'expect.findings.0.lin'; did you mean"),
        (make_line(expect={"findings": [{"line": "1"}]}), "line is '1'; allowed: a whole number"),
        (make_line(expect={"status": "ok"}), "expect.status is 'ok'; allowed: done, passages"),
        (make_line(expect={"escalation": "bored"}), "is 'bored'; allowed: out_of_scope, ambig"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_what_is_allowed(tmp_path, bad, message):
    (found,) = list_problems(tmp_path, make_line(id="good"), bad)

    assert found.startswith("2: ")
    assert message in found


def test_a_record_is_not_read_through_a_link_to_another_folder(tmp_path):
    team, other = tmp_path / "team", tmp_path / "other"
    for folder in (team, other):
        folder.mkdir()
    (other / "x.record").touch()
    (team / "records").symlink_to(other)

    (found,) = list_problems(team, make_line(record="records/x.record"))

    assert "'records/x.record', which does not exist in" in found


def test_every_mistake_is_named_not_only_the_first(tmp_path):
    found = list_problems(
        tmp_path, make_line(), make_line(), "{", make_line(id="x", request=1, expect=2)
    )

    assert [text.partition(":")[0] for text in found] == ["2", "3", "4", "4"]
    assert "already used in line 1" in found[0]


def test_an_unusable_exam_is_refused_in_one_line_and_its_problems_are_listed(tmp_path):
    list_problems(tmp_path, "{", "{")

    with pytest.raises(ExamInvalid, match=r"evals.jsonl:1: .*\(and 1 more\)") as raised:
        load_exam(tmp_path, WORKERS)

    assert raised.value.exit_code == 2
    assert len(raised.value.problems) == 2


@pytest.mark.parametrize(("text", "message"), [(None, "has no evals.jsonl"), ("\n", "is empty")])
def test_a_team_without_rows_has_no_exam(tmp_path, text, message):
    if text is not None:
        (tmp_path / "evals.jsonl").write_text(text)

    with pytest.raises(ExamInvalid, match=message):
        load_exam(tmp_path, WORKERS)


def test_rows_are_chosen_by_name_and_number():
    rows = tuple(ExamRow.model_validate({**GOOD, "id": name}) for name in ("one", "two", "three"))
    exam = Exam(Path(), rows)

    assert [row.id for row in exam.select_rows(only=["three", "one"]).rows] == ["one", "three"]
    assert [row.id for row in exam.select_rows(only=["three", "one"], limit=1).rows] == ["one"]
    with pytest.raises(UsageError, match="no row 'tow'; did you mean 'two'"):
        exam.select_rows(only=["tow"])


@pytest.mark.parametrize(
    ("expect", "is_of_a_plan"),
    [
        ({"workers": ["analyst"], "edges": [["researcher", "analyst"]]}, True),
        ({"workers": ["analyst"], "facts": ["12"]}, False),
        ({"workers": ["analyst"], "sources": ["a.md"]}, False),
        ({"workers": ["analyst"], "findings": [{"line": 1}]}, False),
        ({"workers": ["analyst"], "status": "done"}, False),
        ({"workers": ["analyst"], "escalation": "timeout"}, False),
        ({"workers": ["analyst"], "judged": "It is polite."}, False),
    ],
)
def test_a_row_that_asks_for_workers_and_edges_alone_is_only_planned(expect, is_of_a_plan):
    row = ExamRow.model_validate({**GOOD, "expect": expect})

    assert row.expect.needs_only_a_plan is is_of_a_plan
