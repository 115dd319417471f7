"""Compute what a question was read to ask, in SQL that every engine runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from extensions.tools.sql.table_columns import Query
from extensions.tools.sql.table_profile import Profile
from extensions.tools.sql.tables import quote_name, write_literal
from extensions.tools.tables.doubts import Doubt
from extensions.tools.tables.formatting import PERCENT, QUOTIENT, SUM, round_apart
from extensions.tools.tables.question_words import LISTS, NO_NAMES, split_name
from extensions.tools.tables.reading import Answered, Condition, Reading, describe_conditions
from nodes.errors import ToolRefused

MAX_ROWS: Final = 201
"""One more than any answer shows."""
MAX_LABELS: Final = 3
MAX_VALUES: Final = 6
MAX_LISTED: Final = 20
"""Rows that may be an answer as they are."""
_FUNCTIONS: Final = {"sum": "SUM", "average": "AVG", "minimum": "MIN", "maximum": "MAX"}
_BUCKETS: Final = ("day", "month", "quarter", "year")


@dataclass
class _Shown:
    """SQL for what a row shows, each under a name."""

    labels: list[tuple[str, str]] = field(default_factory=list)
    values: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Computation:
    """The statements of a reading."""

    profile: Profile
    asked: Reading
    query: Query

    def compute(self) -> Answered:
        """Return the rows of a reading, and over how many rows they were computed.

        Raises:
            ToolRefused: the statement fails, or the table has no period to compare.
        """
        asked, answered = self.asked, Answered(self.asked)
        own = asked.measures if len(asked.measures) == 1 else []
        used = [self.profile.read(name) for name in (*own, asked.divisor) if name]
        if not self._can_compute():
            answered.is_missing = True
            return answered
        where = [*self._join_conditions(asked.conditions), *self.profile.totals]
        shown = self._choose_shown(_where(where))
        if not shown.labels and not shown.values:
            answered.is_missing = True
            return answered
        groups = [sql for _, sql in self._list_groups()]
        group = ", ".join(groups)
        filled = [f"{each} IS NOT NULL" for each in (*used, *groups)]
        if asked.group:
            plain = f"LOWER(TRIM(CAST({quote_name(asked.group)} AS VARCHAR(400))))"
            filled.append(f"{plain} NOT IN ({', '.join(map(write_literal, NO_NAMES))})")
        ends = [f"{sql} = {write_literal(at)}" for sql, at in asked.ends]
        counted = [*filled, f"({' OR '.join(ends)})"] if asked.change and ends else filled
        of, fit = self._select(f"COUNT(*), {_count(counted)}", _where(where))[0]
        answered.rows_used = fit or 0
        answered.left_out = 0 if counted != filled else of - answered.rows_used
        answered.columns = [name for name, _ in (*shown.labels, *shown.values)]
        at = answered.labels = len(shown.labels)
        rows = self._select(
            ", ".join(sql for _, sql in (*shown.labels, *shown.values)),
            _where([*where, *filled]) + f" GROUP BY {group}" * bool(group) + self._sort(shown),
        )
        if not answered.rows_used and (used or asked.has_period):
            return answered
        if asked.measure:  # a listed row stays, though no number of it is known
            rows = [row for row in rows if any(each is not None for each in row[at:])]
        if asked.change:
            rows = [row for row in rows if None not in row[at : at + 3]]
        has_own = asked.function == "value" and not (asked.change or asked.is_share)
        is_amount = bool(asked.measure) and not (
            self.profile.is_intensive(asked.measure) or asked.measure in self.profile.time_columns
        )
        is_ranked = bool(group and asked.order) and has_own and is_amount
        asked.is_of_row = is_ranked and answered.rows_used > len(rows)
        answered.rows = rows if has_own else self._round(rows, at, answered.columns)
        self._check_periods()
        self._doubt(answered, group, _where([*where, *filled]))
        return answered

    def _can_compute(self) -> bool:
        """Return whether enough is asked for; where nothing is computed the rows are shown."""
        asked = self.asked
        is_listing = asked.function == "value" and not (asked.measure or asked.listed)
        is_whole = asked.is_share and not (asked.part or asked.group or asked.bucket)
        needs_measure = asked.function not in ("count", "distinct", "value") or asked.change
        if asked.is_of_others or (asked.unread and asked.taken):
            return False  # what is computed without them is the answer to another question
        if is_whole or (needs_measure and not asked.measure and not asked.is_share):
            return False
        if is_listing and (asked.unread or asked.order or not asked.conditions):
            return False
        return self._list_rows() if is_listing else True

    def _list_rows(self) -> bool:
        """Choose what listed rows show: the named columns, else numbers; return whether it can."""
        asked, profile = self.asked, self.profile
        held = {each.column for each in asked.conditions if not each.is_shown}
        wanted = [each.column for each in asked.conditions if each.is_shown]
        wanted += [name for name in asked.named if name not in held and name in profile.columns]
        if asked.asks_when and not {*wanted} & {*profile.when}:
            wanted += profile.when
            if not profile.when:
                asked.doubt("no_dates")
                return False
        named = [name for name in wanted if name in profile.identities]
        people = [n for n in profile.labels if {*split_name(n)} & LISTS["row names"]]
        labels = [*self._choose_labels(), *((people or profile.labels) * asked.asks_who)]
        labels = [name for name in dict.fromkeys(labels) if name not in wanted]
        asked.listed = named or labels or wanted
        shown = [name for name in wanted if name not in asked.listed]
        asked.others = shown or profile.numbers[: 0 if wanted or asked.asks_who else MAX_VALUES]
        asked.group, asked.bucket = "", ""
        others = [Doubt("only", {"done": one, "other": name}) for one in wanted for name in wanted]
        asked.doubts = [each for each in asked.doubts if each not in others]
        if len({*wanted, *asked.listed}) < asked.parts:
            asked.doubt("one_shown")
        repeated = [name for name in wanted if 1 < profile.distinct.get(name, 1) < profile.rows]
        if repeated and held & {*profile.numbers}:
            asked.doubt("of_rows")
        asked_for = [*shown, *(labels if asked.asks_who and not people else ())]
        empty = [name for name in asked_for if self._is_empty(name)]
        if empty:
            names, where = " and ".join(empty), describe_conditions(asked.conditions, "and", "or")
            asked.doubt("empty", names=names, where=where)
        return not shown or empty != shown

    def _is_empty(self, name: str) -> bool:
        """Return whether rows fit, and none of them has a value in a column."""
        where = [*self._join_conditions(self.asked.conditions), *self.profile.totals]
        filled = f"{quote_name(name)} IS NOT NULL"
        return (
            bool(self._select("COUNT(*)", _where(where))[0][0])
            and not (self._select("COUNT(*)", _where([*where, filled]))[0][0])
        )

    def select_fitting(self, shown: str, also: Sequence[str]) -> list[list[Any]]:
        """Return what the rows hold that fit the conditions and further ones."""
        return self._select(shown, _where([*self._join_conditions(self.asked.conditions), *also]))

    def _select(self, shown: str, rest: str) -> list[list[Any]]:
        sql = f"SELECT {shown} FROM {self.profile.rows_of}{rest} LIMIT {MAX_ROWS}"
        return list(self.query(sql)["rows"])

    def _sort(self, shown: _Shown) -> str:
        asked = self.asked
        if asked.bucket and not asked.order:
            return f" ORDER BY {', '.join(str(at + 1) for at in range(len(shown.labels)))}"
        if not shown.values or not (asked.order or self._list_groups()):
            return ""
        changed = 2 if asked.by_last else 4 - (asked.change == "growth")
        place = (
            2
            if asked.by_last and asked.change
            else {"percent": changed, "growth": changed, "both": 3, "amount": 3}.get(
                asked.change, 1
            )
        )
        direction = "ASC" if asked.order == "lowest" else "DESC"
        ranked = shown.values[place - 1][1]
        last = f"CASE WHEN {ranked} IS NULL THEN 1 ELSE 0 END"  # engines differ in where NULL is
        ties = "".join(f", {at + 1}" for at in range(len(shown.labels)))
        return f" ORDER BY {last}, {len(shown.labels) + place} {direction}{ties}"

    @staticmethod
    def _join_conditions(conditions: Sequence[Condition]) -> list[str]:
        """Return SQL for the conditions of each column: values are alternatives."""
        by_column = dict[str, list[Condition]]()
        for each in conditions:
            by_column.setdefault(each.column, []).append(each)
        links = [" OR " if each[0].is_value else " AND " for each in by_column.values()]
        return [
            f"({link.join(one.sql for one in each)})"
            for link, each in zip(links, by_column.values(), strict=True)
        ]

    def _list_groups(self) -> list[tuple[str, str]]:
        """Return the name and the SQL of what the rows are grouped by."""
        group, bucket = self.asked.group, self.asked.bucket
        groups = [(group, quote_name(group))] if group else []
        if group and self.profile.is_code(group) and (name := self.profile.row_name):
            text = f"COALESCE(CAST({quote_name(name)} AS VARCHAR(400)), '')"
            groups.insert(0, (name, text))
        return groups + ([(bucket, self.profile.times.write_bucket(bucket))] if bucket else [])

    def _choose_shown(self, where: str) -> _Shown:
        asked, labels = self.asked, self._list_groups()
        if asked.change:
            listed = [(name, quote_name(name)) for name in asked.listed]
            return _Shown(listed or labels, self._write_change())
        if asked.is_share:
            return _Shown(labels, self._write_share(where))
        if asked.function != "value":
            return _Shown(labels, [self._write_value(name) for name in asked.measures or [""]])
        if asked.measure and labels:
            return _Shown(labels, [self._write_grouped(name) for name in asked.measures])
        names = asked.measures or asked.others
        listed = [(name, quote_name(name)) for name in asked.listed or self._choose_labels()]
        return _Shown(listed, [(name, self.profile.read(name)) for name in names])

    def _choose_labels(self) -> list[str]:
        """Return the columns that name a row: names, else labels that tell rows apart; periods."""
        profile = self.profile
        named = [name for name in profile.labels if LISTS["row names"] & {*split_name(name)}]
        if named and profile.row_name not in named:
            named = [*filter(None, [profile.row_name]), *named]
        kept = sorted(named or profile.labels, key=lambda name: -profile.distinct.get(name, 0))
        first = [name for name in named or profile.labels if name in kept[:MAX_LABELS]]
        if any(map(profile.differs_by_row, first)):
            return first
        numbers = [name for name in profile.numbers if name not in self.asked.measures]
        keys = [*profile.codes, *filter(profile.names_rows, numbers)][:1]
        if first and keys and not {*first}.isdisjoint(profile.partly_empty):
            return [*keys, *first]
        times = [name for name in profile.time_columns if name not in self.asked.measures]
        return [*(first or keys), *times[:2]]

    def _write_grouped(self, measure: str) -> tuple[str, str]:
        """Return the highest or lowest value in a group; the sum where nothing is ranked."""
        asked, profile = self.asked, self.profile
        is_single = profile.distinct.get(asked.group) == profile.rows
        is_single = is_single or profile.spans.get(asked.bucket) == profile.rows
        is_added = bool(asked.bucket) and not profile.is_intensive(measure)
        if not is_single and (is_added or not asked.order):
            asked.function = "sum"
            return self._write_value(measure)
        function = "MIN" if asked.order == "lowest" else "MAX"
        return measure, f"{function}({profile.read(measure)})"

    def _write_value(self, measure: str) -> tuple[str, str]:
        asked, profile = self.asked, self.profile
        if asked.function == "count":
            return "count", "COUNT(*)"
        if asked.function == "distinct":
            bucket = profile.times.write_bucket(asked.counted) if asked.counted else ""
            counted = asked.counted or measure
            return f"different {counted}", f"COUNT(DISTINCT {bucket or quote_name(counted)})"
        value = profile.read(measure)
        if asked.divisor:
            below = f"NULLIF(SUM({profile.read(asked.divisor)}), 0)"
            name = f"{measure} per {f'{asked.per:,} ' * (asked.per > 1)}{asked.divisor}"
            return name, f"{asked.per}.0 * SUM({value}) / {below}"
        return f"{asked.function} of {measure}", f"{_FUNCTIONS[asked.function]}({value})"

    def _write_share(self, where: str) -> list[tuple[str, str]]:
        """Return the share of the part, or of each group, in all rows that fit."""
        base = self.profile.read(self.asked.measure) if self.asked.measure else "1"
        if self.asked.part:
            fits = " AND ".join(self._join_conditions(self.asked.part))
            share = f"SUM(CASE WHEN {fits} THEN {base} ELSE 0 END) / NULLIF(SUM({base}), 0)"
        else:
            whole = f"(SELECT SUM({base}) FROM {self.profile.rows_of}{where})"
            share = f"SUM({base}) / NULLIF({whole}, 0)"
        return [("share in percent", f"100.0 * {share}")]

    def _write_change(self) -> list[tuple[str, str]]:
        """Return for each measure two values, and their difference as it is and in percent."""
        asked, shown, read = self.asked, list[tuple[str, str]](), self.profile.read
        for measure in asked.measures:
            if asked.second:
                pair = [
                    (name, read(name) if asked.listed else f"SUM({read(name)})")
                    for name in (measure, asked.second)
                ]
            else:
                pair = [
                    (
                        f"{measure} {at}",
                        f"SUM(CASE WHEN {period} = {write_literal(at)} THEN {read(measure)} END)",
                    )
                    for period, at in self._find_ends()
                ]
            (_, first), (_, last) = pair
            percent = f"100.0 * ({last} - {first}) / NULLIF({first}, 0)"
            of = f" of {measure}" if asked.others else ""
            if asked.change == "growth":
                shown += [*pair, (f"growth{of} in percent", percent)]
            else:
                shown += [*pair, ("change", f"{last} - {first}"), ("change in percent", percent)]
        return shown

    def _find_ends(self) -> list[tuple[str, Any]]:
        """Return SQL for the period of a row, with the first and the last one to compare."""
        asked, times = self.asked, self.profile.times
        if asked.ends:
            return asked.ends
        bucket = next((each for each in _BUCKETS if getattr(times, each)), "")
        if not (bucket or asked.time):
            raise ToolRefused("no column of years, quarters, months or dates to compare")
        sql = asked.time or times.write_bucket(bucket)
        first, last = self.select_fitting(f"MIN({sql}), MAX({sql})", [])[0]
        if first == last:
            raise ToolRefused(f"{sql} holds one period only; growth needs two")
        asked.ends = [(sql, first), (sql, last)]
        return asked.ends

    def _check_periods(self) -> None:
        """Doubt an answer for several periods of which the table lacks one."""
        named = [each for each in self.asked.conditions if each.part and each.is_value]
        for each in named if len(named) > 1 else ():
            if not self._select("COUNT(*)", _where([each.sql]))[0][0]:
                self.asked.doubt("no_row", words=each.words)

    def _doubt(self, answered: Answered, group: str, where: str) -> None:
        """Doubt a ranking that comes out differently in another reading, and long listings."""
        asked = self.asked
        if (
            group
            and not asked.change
            and asked.order
            and asked.function in ("value", "sum")
            and asked.measure
            and asked.measure not in self.profile.time_columns
        ):
            self._doubt_sums(answered, group, where)
        is_listed = asked.function == "average" and asked.bucket and not asked.order
        if is_listed and answered.rows_used > len(answered.rows):
            asked.doubt("averaged_rows", period=asked.bucket)
        is_listing = not (group or asked.order) and asked.function == "value" and not asked.change
        if is_listing and len(answered.rows) > MAX_LISTED:
            asked.doubt("many_fit", count=len(answered.rows))

    def _doubt_sums(self, answered: Answered, group: str, where: str) -> None:
        """Doubt the highest value of amounts whose group has not the highest sum; or vice versa."""
        asked, profile = self.asked, self.profile
        is_single = profile.distinct.get(asked.group) == profile.rows
        is_rate = is_single or asked.divisor or profile.is_intensive(asked.measure)
        if not answered.rows or is_rate or (asked.function == "sum" and not profile.melted):
            return
        function = "SUM" if asked.function == "value" else "MAX"
        direction = "ASC" if asked.order == "lowest" else "DESC"
        ranked = f" GROUP BY {group} ORDER BY 2 {direction}"
        value = f"{function}({profile.read(asked.measure)})"
        top, first = self._select(f"{group}, {value}", where + ranked)[0][0], answered.rows[0][0]
        if top != first:
            asked.doubt("sums_differ", first=first, top=top)

    def _round(
        self, rows: Sequence[Sequence[Any]], labels: int, columns: Sequence[str]
    ) -> list[list[Any]]:
        cells = list(zip(*rows, strict=True))
        is_quotient = self.asked.divisor or self.asked.is_share or self.asked.function == "average"
        for place in range(labels, len(cells)):
            is_quotient = is_quotient or columns[place] == "change in percent"
            digits = QUOTIENT if is_quotient else SUM
            if columns[place].startswith("growth") and self.asked.change == "growth":
                digits = PERCENT
            cells[place] = tuple(round_apart(cells[place], digits))
        return [list(row) for row in zip(*cells, strict=True)]


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _count(filled: Sequence[str]) -> str:
    return f"SUM(CASE WHEN {' AND '.join(filled)} THEN 1 ELSE 0 END)" if filled else "COUNT(*)"
