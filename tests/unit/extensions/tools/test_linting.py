"""Ruff over texts by name, as all tools use it."""

import pytest

from extensions.tools.linting.ruff_process import lint_files


def test_findings_have_the_names_of_the_texts() -> None:
    texts = {"../a.py": "import os\n", "b.pyi": "x = 1\n", "c c.py": "y = (1 is 1)\n"}

    found = lint_files(texts, ["F"])

    assert [(hit.file, hit.line, hit.code) for hit in found] == [
        ("../a.py", 1, "F401"),
        ("c c.py", 1, "F632"),
    ]
    assert "unused import" in found[0].fix


def test_text_that_is_not_python_is_a_syntax_error_at_its_line() -> None:
    found = lint_files({"a.py": "x = 1\nplain words here\n"}, ["F"])

    assert {(hit.line, hit.code) for hit in found} == {(2, "invalid-syntax")}


def test_comments_disable_rules_unless_told_otherwise() -> None:
    texts = {"a.py": "import os  # noqa\n"}

    assert lint_files(texts, ["F"]) == []
    assert [hit.code for hit in lint_files(texts, ["F"], "--ignore-noqa")] == ["F401"]


def test_without_texts_or_rules_nothing_is_run() -> None:
    assert lint_files({}, ["F"]) == lint_files({"a.py": "import os\n"}, []) == []


def test_rules_that_do_not_exist_are_an_error_not_an_empty_result() -> None:
    with pytest.raises(RuntimeError, match="ruff failed"):
        lint_files({"a.py": "x = 1\n"}, ["NOSUCHRULE"])
