"""Count parts of requests that plans lack and nobody notes, and complete plans that are doubted.

    python -m tests.benchmarks.coverage [--plans FILE] [--rows N] [--show]

Of 15 requests, each planned without one part (and without any other one, in turn), all are to be
noted, with and without quoted spans. Of 60 complete plans in two languages, at most 2 may be
doubted. The plans were written before the rule, which was then corrected by looking at them. FILE
has WorFBench's plans, which quote no spans; of them only those are counted that were not looked at.
"""

import argparse
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from graph import load_team
from nodes.planning.coverage import list_uncovered
from nodes.schemas.team import Team
from state import Plan, Task
from tests.teams import make_team

FOLDER = Path(__file__).parent
Row = dict[str, Any]
get_team = cache(load_team)
LOOKED_AT = 300
"""Of WorFBench's plans, by a hash: the rule was corrected by looking at them."""
_APPENDIX = re.compile(
    r"The action list you can take|The database tables and|\[SEP\] Search|The (?:tool|API) list"
    r"|api_list:|Output:|There're some choices",
    re.IGNORECASE,
)
_TASK = re.compile(r"(?:Your task is to:|Task:|Instruction: \[SEP\]|My problem is:)", re.IGNORECASE)


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--plans", type=Path, help="WorFBench's plans, as JSON lines")
    parser.add_argument("--rows", type=int, default=300, help="of them, at most (default: 300)")
    parser.add_argument("--look", action="store_true", help="count those that were looked at")
    parser.add_argument("--show", action="store_true", help="print the parts that are named")
    options = parser.parse_args()
    for has_spans in (False, True):
        _print_drops(has_spans=has_spans, is_shown=options.show)
    complete = [(row["language"], *read_complete(row)) for row in read_rows("complete_plans")]
    for language in ("en", "de"):
        _print_doubts(language, [row[1:] for row in complete if row[0] == language], options.show)
    if options.plans:
        rows = list(_read_worfbench(options.plans, is_held_out=not options.look))[: options.rows]
        _print_doubts("WorFBench", rows, options.show)


def read_rows(name: str) -> list[Row]:
    """Return the rows of a file beside this one."""
    text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def drop_part(row: Row, dropped: int, *, has_spans: bool) -> Plan:
    """Return the plan of a request without one of its parts."""
    left = [part for n, part in enumerate(row["parts"]) if n != dropped]
    tasks = [(worker, words, (span,) if has_spans else ()) for span, worker, words in left]
    tasks = tasks or [(*row["other"], ())]
    return make_plan(row["request"], tasks)


def make_plan(request: str, tasks: Sequence[tuple[str, str, tuple[str, ...]]]) -> Plan:
    """Return a plan of tasks, each a worker, a description and spans."""
    made = (
        Task(id=f"t{n}", worker=worker, description=words, covers=spans)
        for n, (worker, words, spans) in enumerate(tasks, 1)
    )
    return Plan(goal=request, tasks=tuple(made))


def _print_drops(*, has_spans: bool, is_shown: bool) -> None:
    first = noted = total = 0
    for row in read_rows("dropped_parts"):
        team = get_team(row["team"])
        found = [
            _is_noted(row, n, team, has_spans=has_spans, is_shown=is_shown)
            for n in range(len(row["parts"]))
        ]
        first, noted, total = first + found[-1], noted + sum(found), total + len(found)
    kind = "with spans" if has_spans else "without spans"
    print(f"{kind}: last part dropped, noted: {first} of 15; any part: {noted} of {total}")


def _is_noted(row: Row, dropped: int, team: Team, *, has_spans: bool, is_shown: bool) -> bool:
    found = list_uncovered(drop_part(row, dropped, has_spans=has_spans), row["request"], team)
    span = row["parts"][dropped][0]
    is_noted = any(part in span or span in part for part in found)
    if is_shown and (not is_noted or len(found) > 1):
        print(f"  {row['team']}: dropped {span!r}, named {found}")
    return is_noted


def _print_doubts(name: str, rows: Sequence[tuple[str, Plan, Team]], is_shown: bool) -> None:
    doubted = 0
    for request, plan, team in rows:
        found = list_uncovered(plan, request, team)
        doubted += bool(found)
        if is_shown and found:
            print(f"  {found} of {request!r}\n    {[task.description for task in plan.tasks]}")
    share = 100 * doubted / max(1, len(rows))
    print(f"{name}: complete plans doubted: {doubted} of {len(rows)} ({share:.1f} %)")


def read_complete(row: Row) -> tuple[str, Plan, Team]:
    """Return the request of a row, its plan, and the team that it is for."""
    tasks = [(worker, words, ()) for worker, words in row["tasks"]]
    return row["request"], make_plan(row["request"], tasks), get_team(row["team"])


def _read_worfbench(path: Path, *, is_held_out: bool) -> Iterator[tuple[str, Plan, Team]]:
    team = make_team()
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows.sort(key=lambda each: hashlib.sha256(each["id"].encode()).hexdigest())
    for row in rows[LOOKED_AT:] if is_held_out else rows[:LOOKED_AT]:
        request = read_worfbench_request(row["request"])
        names = [task["name"][:4000] for task in row["tasks"]]
        yield request, make_plan(request, [("worker", name, ()) for name in names]), team


def read_worfbench_request(text: str) -> str:
    """Return what is asked, without the lists of actions, tables and tools around it."""
    asked = _TASK.split(text)[-1]
    return _APPENDIX.split(asked)[0].strip()[:4000] or text[:4000]


if __name__ == "__main__":
    main()
