"""`supervise eval`: runs a team's exam, alone or against another team or model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import TypeAdapter, ValidationError

from extensions.evals.evaluate import aevaluate_team, resolve_models
from extensions.evals.exam import ExamInvalid
from extensions.evals.kept_exams import keep_exam
from extensions.evals.metrics import METRICS
from extensions.evals.scores import Evaluation, GradedRow
from extensions.evals.table import (
    MAX_MISSED_CHARS,
    format_complaint_rows,
    format_differing_rows,
    format_heading,
    format_metric_rows,
    format_missed_rows,
    format_score_row,
    format_usage_rows,
    list_differing_rows,
)
from graph.commands.cancellation import run_cancellable
from graph.commands.output import print_json, print_table, print_text
from graph.commands.process import Cancelled
from graph.display.stderr_console import print_to_stderr
from graph.display.streams import print_to_stdout
from graph.display.text import to_one_line
from graph.extensions import collect
from graph.settings import ModelName, Settings
from graph.teams.front_matter import suggest_name
from graph.teams.team_folder import TEAM_FILE
from graph.teams.team_loader import find_team, load_team
from nodes.errors import OutputFailed, SupervisorError, UsageError
from nodes.text.counts import format_count
from state import Strategy, Tier

BELOW_THRESHOLD_EXIT_CODE: Final = 3


@dataclass(frozen=True)
class Baseline:
    """The team and settings with which an evaluation is compared."""

    label: str
    team: str
    settings: Settings
    workers: tuple[Path, ...] = ()
    """Files of workers that replace the team's, or are added: then this is what is examined."""
    strategy: Strategy | None = None

    def describe(self) -> str:
        """Return what the comparison is with."""
        return f"{'with' if self.workers else 'against'} {to_one_line(self.label)}"


def choose_baseline(
    against: Sequence[str], workers: Sequence[Path], team: str, settings: Settings, replayed: bool
) -> Baseline | None:
    """Return what an exam is compared with; None without a comparison.

    Raises:
        UsageError: a value cannot be used, or there are values of both kinds.
    """
    if against and (workers or replayed):
        said = "--worker compares a team with itself" if workers else "--replayed asks no model"
        raise UsageError(f"{said}, without --against", next="leave one of the two options out")
    files = {path.stem: path for path in workers}
    for path in workers:
        if path.suffix != ".md" or path.name == TEAM_FILE:
            said = f"--worker {path} is no worker's file"
            raise UsageError(said, next="name one such as analyst.md")
        if files[path.stem] is not path:
            raise UsageError(f"two files are for the worker {path.stem!r}", next="name one of them")
    if workers:
        return Baseline(", ".join(path.name for path in workers), team, settings, tuple(workers))
    return parse_baseline(against, team, settings) if against else None


def parse_baseline(against: Sequence[str], team: str, settings: Settings) -> Baseline:
    """Build the baseline from models as TIER=MODEL, a strategy, and a team by its name or folder.

    Raises:
        UsageError: a value is none of them, or names a second team or strategy.
    """
    models = dict(_read_model(text) for text in against if "=" in text)
    strategies = [text for text in get_args(Strategy) if text in against]
    others = [text for text in against if "=" not in text and text not in strategies]
    if len(strategies) > 1 or len(others) > 1:
        names = f"two teams, {others[0]!r} and {others[1]!r}" if len(others) > 1 else ""
        names = names or f"the strategies {' and '.join(strategies)}"
        raise UsageError(f"--against names {names}", next="compare with one")
    return Baseline(
        label=", ".join(against),
        team=others[0] if others else team,
        settings=settings.model_copy(update=models),
        strategy=next(iter(strategies), None),
    )


def _read_model(text: str) -> tuple[str, str]:
    """Return the setting and the model of TIER=MODEL."""
    name, _, value = text.partition("=")
    tier = name.removeprefix("model_")
    if tier not in get_args(Tier):
        known = [f"{prefix}{each}" for prefix in ("model_", "") for each in get_args(Tier)]
        raise UsageError(
            f"--against cannot change {name!r}{suggest_name(name, known)}",
            next=f"write one of {', '.join(known)} before '=', or the folder of a team",
        )
    try:
        TypeAdapter(ModelName).validate_python(value)
    except ValidationError:
        raise UsageError(
            f"invalid model in --against {text}",
            next="write provider:model, as in openai:gpt-5-mini, or embedded",
        ) from None
    return f"model_{tier}", value


@dataclass(frozen=True, kw_only=True)
class ExamCommand:
    """One call of `supervise eval`."""

    team: str
    other: Baseline | None
    """The other side of a comparison."""
    settings: Settings
    threshold: float
    as_json: bool
    quiet: bool
    graded: tuple[list[GradedRow], list[GradedRow]] = field(default_factory=lambda: ([], []))
    """The rows of each side, as they are graded."""

    def run(self, **rows: Any) -> int:
        """Run the exam and print its grades; return 3 if the score is below the threshold.

        Where workers are replaced or added, it is the score with them.

        Args:
            rows: which rows, and who judges, as `aevaluate_team` takes it.
        """
        try:
            first, second = run_cancellable(self._evaluate(rows), farewell=self._describe_stop)
        except Cancelled:
            self._print_graded()
            raise
        except SupervisorError as error:
            _print_problems(error, as_json=self.as_json)
            raise
        if first.skipped is None:
            self._keep(first, second)
        advice = self._review_plans(first)
        score = second.score if second and self.other and self.other.workers else first.score
        if self.as_json:
            shown = self._build_json(first, second, passed=score >= self.threshold)
            print_json({**shown, "advice": advice})
        else:
            self._print(first, second, score)
            for each in advice:
                print_to_stderr(f"note: {each}", style="yellow")
        return 0 if score >= self.threshold else BELOW_THRESHOLD_EXIT_CODE

    async def _evaluate(self, rows: Mapping[str, Any]) -> tuple[Evaluation, Evaluation | None]:
        other, settings = self.other, self.settings
        given: dict[str, Any] = {"exam": self.team, **rows}
        if other:  # an invalid comparison must fail before the exam costs anything
            load_team(other.team, other.settings, workers=other.workers)
            if not rows.get("replayed"):
                await resolve_models(other.settings)
        listen = partial(self._note_row, self.graded[0])
        first = await aevaluate_team(self.team, settings=settings, on_row=listen, **given)
        if other is None:
            return first, None
        if not self.quiet:
            print_to_stderr(other.describe())
        # One judge for both, so that the difference is not that of the judges.
        given |= {"workers": other.workers, "settings": other.settings, "judge": settings}
        given["strategy"] = other.strategy
        listen = partial(self._note_row, self.graded[1])
        return first, await aevaluate_team(other.team, on_row=listen, **given)

    def _note_row(self, side: list[GradedRow], row: GradedRow) -> None:
        side.append(row)
        if not self.quiet:
            cut = MAX_MISSED_CHARS if row.result.missed else 120
            why = f": {to_one_line('; '.join(row.complaints), cut)}" if row.complaints else ""
            print_to_stderr(f"{row.row.id} {row.score:.0f}{why}", style="dim")

    def _keep(self, first: Evaluation, second: Evaluation | None) -> None:
        """Keep the exam for the team's page; its result is printed even where it cannot be kept."""
        asking = find_team(self.team, self.settings)
        keep = partial(keep_exam, self.settings.home, asking, threshold=self.threshold)
        try:
            keep(first)
            if second and self.other:
                keep(second, against=self.other.label)
        except OutputFailed as error:
            print_to_stderr(error.format_line(), style="yellow")

    def _review_plans(self, first: Evaluation) -> list[str]:
        """Return what the plans of the whole team say of it; a row for one worker has none."""
        rows = [graded for graded in first.rows if not graded.row.worker]
        plans = [(each.row.request, each.result.plan) for each in rows if each.result.plan]
        team = load_team(self.team, self.settings)
        return collect(lambda each: each.review_plans(team, plans))

    def _describe_stop(self) -> str:
        count = format_count(sum(map(len, self.graded)), "row")
        return f"stopped. kept: nothing of the exam; {count} had been graded"

    def _print_graded(self) -> None:
        """Print the rows that a stopped exam has: each side that was begun, without a verdict."""
        sides = [Evaluation(team=self.team, models={}, rows=rows) for rows in self.graded if rows]
        if self.as_json and sides:
            print_json({"stopped": True, "sides": [side.to_json() for side in sides]})
        elif sides:
            print_table([*format_metric_rows(sides, counted=True), format_score_row(sides)])

    def _build_json(
        self, first: Evaluation, second: Evaluation | None, *, passed: bool
    ) -> dict[str, Any]:
        result = {**first.to_json(), "threshold": self.threshold, "passed": passed}
        if second is None or self.other is None:
            return result
        first, second = keep_comparable(first, second)
        if first.is_of_answers:
            result["compared"] = first.to_json()
        pairs = {
            name: (first.average_metric(name), second.average_metric(name)) for name in METRICS
        }
        rows = list_differing_rows(first, second)
        return {
            **result,
            "against": {"label": self.other.label, **second.to_json()},
            "difference": {
                name: round(after - before, 1)
                for name, (before, after) in {"score": (first.score, second.score), **pairs}.items()
                if before is not None and after is not None
            },
            "differing_rows": [
                {"id": before.row.id, "score": before.score, "against": after.score}
                for before, after in rows
            ],
        }

    def _print(self, first: Evaluation, second: Evaluation | None, score: float) -> None:
        print_text(format_heading(first))
        complaints = format_complaint_rows(first.rows)
        if second:
            first, second = keep_comparable(first, second)
        head: tuple[str, ...] = ("", "percent")
        if second and self.other:
            print_text(f"{self.other.describe()}: {format_heading(second)}")
            head = ("", first.team, to_one_line(self.other.label, 24), "difference")
        sides = [first, second] if second else [first]
        counted, others = (format_metric_rows(sides, counted=each) for each in (True, False))
        print_text("")
        print_table([(*head, "rows", ""), *counted, format_score_row(sides)])
        print_text("\ninformational (not scored)")
        print_table([*others, *format_usage_rows(sides)])
        tables = {
            "rows below 100": complaints,
            "rows that cannot be replayed, so they have no answer": format_missed_rows(
                (second or first).rows
            ),
            "rows that differ": format_differing_rows(first, second) if second else [],
        }
        for title, rows in tables.items():
            if rows:
                print_text(f"\n{title}")
                print_table(rows)
        for name, why in {**(second.left_out if second else {}), **first.left_out}.items():
            print_to_stderr(f"left out: {name}: {to_one_line(why, 300)}", style="yellow")
        if first.experiment:
            print_to_stderr(f"in LangSmith: {first.experiment}", style="dim")
        verdict = "reached" if score >= self.threshold else "missed"
        print_text(f"\nscore {score:.1f}, threshold {self.threshold:g}: {verdict}")


def keep_comparable(first: Evaluation, second: Evaluation) -> tuple[Evaluation, Evaluation]:
    """Return both sides of a comparison as far as both are graded."""
    if first.is_of_answers or second.is_of_answers:
        return first.keep_answers(), second.keep_answers()
    return first, second


def _print_problems(error: SupervisorError, *, as_json: bool) -> None:
    """Print all problems of an exam; the command line prints the error itself."""
    problems = error.problems if isinstance(error, ExamInvalid) else []
    if as_json:
        print_json({"error": {"code": error.code, "message": str(error), "problems": problems}})
    else:
        for problem in problems:
            print_to_stdout(problem)
