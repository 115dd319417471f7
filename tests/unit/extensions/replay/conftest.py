"""A team whose run has become a case."""

from pathlib import Path

import pytest

from graph.commands.scaffold import make_team
from tests.screen import CapturedScreen
from tests.unit.extensions.replay.juice_team import run_juice


@pytest.fixture
def juice() -> Path:
    """A team with a tool of its own, and an exam of seven rows."""
    return make_team("juice", Path("teams"))


@pytest.fixture
def case(juice: Path, supervise: CapturedScreen) -> Path:
    """The row `keeps` of the team, made of a run of the built-in model; returns its record."""
    run_juice(juice)
    assert supervise("case", "kept", "--id", "keeps", "--expect-fact", "18 months") == 0
    return juice / "records" / "keeps.record"
