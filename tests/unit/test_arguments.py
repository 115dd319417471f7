"""Arguments of a program: a value of another type is refused in one line, and one path is taken."""

from pathlib import Path
from typing import Any

import pytest

from graph import arun, build_supervisor, load_team, resume, run
from graph.settings import Settings
from nodes.errors import UsageError

REQUEST = "How many pieces are there?"
TEAM: Any = "market_analysis"


@pytest.mark.parametrize("one", ["stock.md", Path("stock.md")])
def test_one_file_need_not_be_a_list(one: Any, tmp_path: Path):
    Path("stock.md").write_text("There are three pieces of the bolt.")

    outcome = run(REQUEST, files=one, settings=Settings(home=tmp_path / "home"))

    assert outcome.status == "passages"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"request": ["x"]}, r"request must be a string: it is \['x'\]"),
        ({"request": None}, "request must be a string: it is None"),
        ({"files": [1]}, r"files must be paths: it is \[1\]"),
        ({"files": 1}, "files must be paths: it is 1"),
        ({"files": b"a.csv"}, "files must be paths"),
        ({"materials": {"a.csv": 1}}, "materials must map names to strings"),
        ({"materials": {"a.csv": b"a"}}, "materials must map names to strings"),
        ({"materials": ["a.csv"]}, "materials must map names to strings"),
        ({"context": [1]}, "context is a list, not a Context"),
        ({"context": "deadline"}, "context is a str, not a Context"),
        ({"settings": {"home": "x"}}, "settings is a dict, not a Settings"),
        ({"plan": {"goal": "x"}}, "plan is a dict, not a Plan"),
        ({"models": [1]}, "models is a list, not a Mapping"),
        ({"tools": [1]}, "tools is a list, not a Mapping"),
        ({"thread": 5}, "invalid thread id 5"),
    ],
)
async def test_an_argument_of_another_type_is_refused_in_one_line(
    wrong: dict[str, Any], words: str, tmp_path: Path
):
    given: dict[str, Any] = {"request": REQUEST, "settings": Settings(home=tmp_path / "home")}

    with pytest.raises(UsageError, match=words) as refused:
        await arun(**{**given, **wrong})

    assert "\n" not in refused.value.format_line() and refused.value.next


def test_each_way_in_refuses_settings_of_another_type():
    wrong: Any = {"home": "x"}
    for enter in (build_supervisor, load_team):
        with pytest.raises(UsageError, match="settings is a dict"):
            enter(TEAM, settings=wrong)
    with pytest.raises(UsageError, match="settings is a dict"):
        resume("here", settings=wrong)
    with pytest.raises(UsageError, match="answer is a int"):
        resume("here", answer=5)
