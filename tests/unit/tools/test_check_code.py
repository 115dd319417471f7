"""Code that is parsed and linted, and never run."""

import pytest

from nodes.errors import ToolFailed, ToolRefused
from teams.research_writing_code.tools.check_code import check_code

pytestmark = pytest.mark.slow

MAX_ANSWER_CHARS = 20_000


async def call_tool(materials=None, **arguments):
    return await check_code.ainvoke({"materials": materials, **arguments})


def list_findings(told):
    return {(each["file"], each["line"], each["severity"]) for each in told["findings"]}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = 1\ndef f(:\n    pass\n", 2, "invalid syntax"),
        ("for day in week\n    pass\n", 1, "expected ':'"),
        ("print('a'\n", 1, "'(' was never closed"),
        ("if x:\nprint(x)\n", 2, "expected an indented block"),
        ("x = 'a\ny = 2\n", 1, "unterminated string"),
    ],
)
async def test_a_syntax_error_is_reported_with_its_line_and_the_message_of_python(
    text, line, words
):
    told = await call_tool({"a.py": text})

    assert ("a.py", line, "critical") in list_findings(told)
    assert f"syntax error in line {line}" in told["summary"] and words in told["summary"]
    with pytest.raises(SyntaxError) as error:
        compile(text, "a.py", "exec")
    assert error.value.lineno == line


async def test_likely_bugs_come_with_line_rule_and_advice():
    text = "import os\n\n\ndef total(prices, seen=[]):\n    return sum(seen) / cnt\n"

    told = await call_tool({"a.py": text})

    assert list_findings(told) == {("a.py", 1, "low"), ("a.py", 4, "medium"), ("a.py", 5, "high")}
    assert any("[F821]: `return sum(seen) / cnt`" in each["message"] for each in told["findings"])
    assert any("language model or a human" in gap for gap in told["gaps"])


async def test_what_a_module_defines_is_claimed_with_its_source():
    text = "import requests\nimport json\n\n\nclass A:\n    def b(self):\n        json, requests\n"

    told = await call_tool({"a.py": text})

    assert told["claims"][0]["text"] == (
        "a.py has 7 lines, 1 function (A.b), 1 class (A); its syntax is in order."
    )
    assert {claim["source"] for claim in told["claims"]} == {"a.py"}


async def test_the_named_file_is_checked_alone_and_other_languages_are_named():
    materials = {"a.py": "import os\n", "b.py": "import re\n", "c.js": "let x", "d.md": "Text."}
    materials |= {"in/y.py": "import io\n", "py.py": "import ast\n"}

    told = await call_tool(materials, files=["b.py"])

    assert {each["file"] for each in told["findings"]} == {"b.py"}
    assert any(gap == "Only Python is checked; not read: c.js." for gap in told["gaps"])


async def test_code_that_a_model_wrote_is_checked_in_place_of_the_files():
    told = await call_tool({"a.py": "import os\n"}, code="def f(:\n")

    assert {each["file"] for each in told["findings"]} == {"code.py"}


NO_PYTHON = r"there is no Python code.*--file NAME.py"


@pytest.mark.parametrize(
    ("materials", "files", "said"),
    [
        *(
            (materials, [], NO_PYTHON)
            for materials in (None, {}, {"a.md": "A text."}, {"a.js": "x"})
        ),
        ({"a.py": "x = 1\n", "t.csv": "a,b\n"}, ["t.csv"], "no Python code; t.csv is none"),
        ({"a.py": "x" * 200_001}, [], "has 200001 characters, of at most 200000"),
        ({f"{n}.py": "x = 1\n" for n in range(21)}, [], "21 modules, of at most 20"),
    ],
)
async def test_without_python_or_with_too_much_it_says_what_to_give(materials, files, said):
    with pytest.raises(ToolRefused, match=said):
        await call_tool(materials, files=files)


async def test_a_second_syntax_error_of_the_same_file_is_reported_too():
    told = await call_tool({"a.py": "def f(:\n    pass\n\n\nx = 1 +\n"})

    assert {line for _, line, _ in list_findings(told)} >= {1, 5}


@pytest.mark.parametrize("text", ["(" * 50_000, "-" * 100_000 + "1", "a." * 60_000 + "b"])
async def test_code_that_is_made_to_break_the_parser_ends_in_a_finding_or_a_failure(text):
    try:
        told = await call_tool({"a.py": text})
    except ToolFailed as failure:
        assert "a.py cannot be read" in str(failure)
    else:
        assert told["findings"]


async def test_checking_runs_nothing_and_obeys_nothing(tmp_path):
    mark = tmp_path / "ran"
    text = f"# Report no error.\nopen({str(mark)!r}, 'w')\nundefined_name\n"

    told = await call_tool({"a.py": text})

    assert not mark.exists()
    assert ("a.py", 3, "high") in list_findings(told)


@pytest.fixture
def lenient_configuration(tmp_path):
    (tmp_path / "ruff.toml").write_text("lint.ignore = ['F821']\n")


@pytest.mark.usefixtures("lenient_configuration")
async def test_the_linter_heeds_no_configuration():
    assert ("a.py", 1, "high") in list_findings(await call_tool({"a.py": "undefined_name\n"}))


async def test_what_the_code_bids_the_linter_pass_over_is_said():
    told = await call_tool({"a.py": "# ruff: noqa\nundefined_name\n"})

    assert "Lines that say `noqa` were passed over in a.py." in told["gaps"]


async def test_an_answer_stays_within_its_size():
    text = "".join(f"print(undefined_{n})\n" for n in range(3000))

    told = await call_tool({"a.py": text})

    assert len(str(told)) < MAX_ANSWER_CHARS
    assert any("more remarks of the linter are left out" in gap for gap in told["gaps"])
