"""The exam of a team: its rows, and the files that these name."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from extensions.evals.exam_file import EXAM_FILE, read_exam
from extensions.evals.rows import ExamRow
from graph.teams.front_matter_keys import suggest_name
from nodes.errors import UsageError


class ExamInvalid(UsageError):
    """An exam cannot be used; `problems` lists everything that is wrong with it."""

    code = "EXAM_INVALID"

    def __init__(self, what: str, *, problems: Sequence[str] = (), next: str = "") -> None:
        super().__init__(what, next=next)
        self.problems = list(problems)


@dataclass(frozen=True)
class Exam:
    """The rows of an exam, and the folder to which their files are relative."""

    folder: Path
    rows: tuple[ExamRow, ...]

    def list_files(self, row: ExamRow) -> list[Path]:
        """Return the paths of a row's files."""
        return [self.folder / name for name in row.files]

    def select_rows(self, *, limit: int | None = None, only: Collection[str] = ()) -> "Exam":
        """Return the exam with only the named rows, and of these only the first `limit`.

        Raises:
            UsageError: no row has one of the ids.
        """
        known = {row.id for row in self.rows}
        if missing := sorted(set(only) - known):
            raise UsageError(
                f"the exam has no row {missing[0]!r}{suggest_name(missing[0], known)}",
                next=f"choose one of the rows of {self.folder / EXAM_FILE}",
            )
        rows = tuple(row for row in self.rows if not only or row.id in only)
        return replace(self, rows=rows[:limit])


def load_exam(folder: Path, workers: Collection[str]) -> Exam:
    """Read the exam of a team whose workers are known.

    Raises:
        ExamInvalid: there is no exam, or it has problems.
    """
    if not (folder / EXAM_FILE).exists():
        raise ExamInvalid(
            f"{folder} has no {EXAM_FILE}",
            next='write one: a line is {"id": …, "request": …, "expect": {…}}',
        )
    rows, problems = read_exam(folder, workers)
    if problems:
        count = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise ExamInvalid(
            f"{problems[0]}{count}",
            problems=[str(problem) for problem in problems],
            next=f"fix the lines; supervise check {folder} lists every problem",
        )
    return Exam(folder, tuple(rows))
