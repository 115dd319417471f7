"""A team whose run has become a case, and the record of a run."""

import asyncio
from pathlib import Path

import pytest

from graph.commands.scaffold import make_team
from tests.screen import CapturedScreen
from tests.unit.extensions.replay.juice_team import run_juice
from tests.unit.extensions.replay.kept_records import Line, read_entries, record_run


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


_made = list[bytes]()
"""The record of a run with a tool, a material, a question and its answer, made once."""


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    if not _made:
        _made.append(asyncio.run(record_run(tmp_path)).read_bytes())
    path = tmp_path / "kept.record"
    path.write_bytes(_made[0])
    return path


@pytest.fixture
def lines(kept: Path) -> list[Line]:
    return read_entries(kept)
