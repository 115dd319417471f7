"""The team's own tool, called as the function it is: `pytest my_team`."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from supervisor_worker import import_tool_module

count_crates = import_tool_module(Path(__file__).parent / "tools", "count_crates").count_crates


def test_the_last_crate_may_have_empty_places() -> None:
    assert count_crates.invoke({"total_bottles": 500})["summary"] == (
        "500 bottles need 21 crates; 4 places left empty."
    )


def test_no_bottles_are_refused() -> None:
    with pytest.raises(ValidationError):
        count_crates.invoke({"total_bottles": 0})
