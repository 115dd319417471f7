"""One thing that `supervise doctor` looked at."""

from dataclasses import dataclass
from typing import Literal

Grade = Literal["ok", "note", "broken"]


@dataclass(frozen=True)
class Diagnosis:
    """One thing looked at; a broken one makes the command fail."""

    grade: Grade
    name: str
    text: str
    fix: str = ""
