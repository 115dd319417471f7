"""The team that takes a request when none is named."""

from pathlib import Path
from typing import Final

DEFAULT_TEAM: Final = (
    (Path(__file__).parents[2] / "teams" / "default.txt").read_text(encoding="utf-8").strip()
)
