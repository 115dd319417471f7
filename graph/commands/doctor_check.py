"""The result of one check of `supervise doctor`."""

from dataclasses import dataclass
from typing import Literal

CheckLevel = Literal["ok", "note", "broken"]


@dataclass(frozen=True)
class DoctorCheck:
    """The result of one check; a broken one makes the command fail."""

    level: CheckLevel
    name: str
    text: str
    fix: str = ""
