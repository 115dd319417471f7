"""One thing that `supervise doctor` looked at."""

from dataclasses import dataclass
from typing import Literal

CheckLevel = Literal["ok", "note", "broken"]


@dataclass(frozen=True)
class DoctorCheck:
    """One thing looked at; a broken one makes the command fail."""

    level: CheckLevel
    name: str
    text: str
    fix: str = ""
