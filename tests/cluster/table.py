"""The table of `make cluster`: a row for each experiment of its parts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

COLUMNS: Final = ("part", "experiment", "runs", "right", "figures", "verdict")


@dataclass(frozen=True)
class Row:
    """What one experiment has shown."""

    experiment: str
    runs: int
    """Those that were started."""
    right: int
    """Those that ended as they should."""
    figures: str = ""
    """What else was counted, such as `planner calls 20, recovered in 9.1 s`."""
    problem: str = ""
    """Why the experiment has failed although all runs ended right; empty if it has not."""

    @property
    def is_right(self) -> bool:
        """Whether all runs ended as they should, and nothing else was wrong."""
        return self.runs == self.right and not self.problem


def format_table(rows: Iterable[tuple[str, Row]]) -> str:
    """Return a Markdown table of rows, each with the name of its part."""
    lines = [" | ".join(COLUMNS), " | ".join("---" for _ in COLUMNS)]
    for part, row in rows:
        verdict = "right" if row.is_right else f"WRONG {row.problem}".strip()
        cells = (part, row.experiment, row.runs, row.right, row.figures, verdict)
        lines.append(" | ".join(str(cell).replace("|", "/").replace("\n", " ") for cell in cells))
    return "\n".join(f"| {line} |" for line in lines)
