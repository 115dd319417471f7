"""The team that takes a request when none is named."""

from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).parents[2] / "teams" / "default.txt"
DEFAULT_TEAM: Final = _FILE.read_text(encoding="utf-8").strip() if _FILE.exists() else ""
"""Empty where the shipped teams are not there: then each call names one."""
