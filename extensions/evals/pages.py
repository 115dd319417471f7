"""The exams of teams, as a page shows them: the rows of a team's exam, and the kept results."""

from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

from extensions.evals.exam_file import EXAM_FILE, read_exam
from extensions.evals.kept_exams import list_exams, load_kept_exam
from extensions.evals.rows import ExamRow

MAX_ROWS: Final = 500
MAX_REQUEST_CHARS: Final = 10_000


class ExamPages:
    """Reads what a page shows; a caller hides folders and secrets."""

    def list_kept(self, home: Path, team: str) -> list[dict[str, Any]]:
        """Return the results of a team's exams that were kept, the newest first."""
        return [each.model_dump(mode="json") for each in list_exams(home, team)]

    def load_kept(self, home: Path, team: str, exam: str) -> dict[str, Any]:
        """Return one of them.

        Raises:
            ExamMissing, ExamUnreadable: there is none, or it is damaged.
        """
        return load_kept_exam(home, team, exam).model_dump(mode="json")

    def describe(self, folder: Path, workers: Collection[str]) -> dict[str, Any] | None:
        """Return the rows of a team's exam and all its problems; None without an exam."""
        if not (folder / EXAM_FILE).exists():
            return None
        rows, problems = read_exam(folder, workers)
        lines = [f"line {each.line}: {each.text}" if each.line else each.text for each in problems]
        shown = [_describe_row(row) for row in rows[:MAX_ROWS]]
        return {"count": len(rows), "rows": shown, "problems": lines}

    def find_row(self, folder: Path, name: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the request and the files of a row; None without such a row."""
        rows = read_exam(folder)[0] if (folder / EXAM_FILE).exists() else []
        return next(((row.request, row.files) for row in rows if row.id == name), None)


def _describe_row(row: ExamRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "request": row.request[:MAX_REQUEST_CHARS],
        "files": list(row.files),
        "worker": row.worker,
        "expect": row.expect.model_dump(mode="json", exclude_defaults=True),
    }
