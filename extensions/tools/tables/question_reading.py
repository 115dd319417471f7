"""Read what a question in a user's words asks of a table, once its words have their roles."""

from collections.abc import Sequence

from extensions.tools.sql.table_profile import Profile
from extensions.tools.tables.formatting import split_unit
from extensions.tools.tables.question_amounts import LINKS
from extensions.tools.tables.question_doubts import doubt_choice
from extensions.tools.tables.question_nouns import name_ranked, name_rows, name_unit
from extensions.tools.tables.question_roles import QuestionRoles
from extensions.tools.tables.question_unread import list_unread
from extensions.tools.tables.question_words import (
    GRAMMAR,
    LISTS,
    NEVER_ADDED,
    Token,
    split_name,
)
from extensions.tools.tables.reading import Reading

_Named = Sequence[tuple[int, str]]
"""Columns, each with the place of its word."""


def read_part(profile: Profile, tokens: list[Token], cells: Sequence[tuple[str, str]]) -> Reading:
    """Return what a question asks.

    Args:
        cells: columns of labels, each with a cell whose words the question may hold.
    """
    return _Choice(QuestionRoles(profile, tokens, cells)).choose()


class _Choice:
    """Chooses what is computed from the roles of the words."""

    def __init__(self, roles: QuestionRoles) -> None:
        self._roles, self._profile, self._found = roles, roles.profile, roles.found
        self._asked = roles.operations.keys()
        self._words = [token.word for token in roles.tokens]
        self._parts = [part for name in roles.profile.columns for part in split_name(name)]

    def choose(self) -> Reading:
        roles, found = self._roles, self._found
        quantities = self._list_quantities()
        numbers = [each for each in sorted(roles.columns) if each[1] in quantities]
        labels = [each for each in sorted(roles.columns) if each[1] not in quantities]
        if not numbers and (only := roles.find_only_measure()):
            numbers = [(len(roles.tokens), only)]
        self._choose_order()
        self._choose_group(labels)
        if not numbers:
            self._choose_time(labels)
        self._choose_measure(numbers)
        self._choose_function(labels)
        self._choose_change()
        if "share" in self._asked or ("percent" in self._asked and not found.change):
            self._choose_share()
        if found.function == "count":
            self._choose_count()
        name_ranked(roles)
        if found.group and found.bucket and (found.order or found.is_share):
            found.doubt("only", done=found.group, other=found.bucket)
            found.bucket = ""
        doubt_choice(roles)
        roles.doubt_alternatives()
        list_unread(roles)
        found.named = [name for _, name in sorted(roles.columns)]
        found.asks_who = self._words[:1] in (["who"], ["wer"])
        found.asks_when = bool({"when", "wann", "date", "datum"} & {*self._words})
        return found

    def _list_quantities(self) -> set[str]:
        """Return the columns of numbers that are amounts in this question."""
        computed = {"sum", "average", "highest", "lowest"} & self._asked
        codes = [n for n in self._profile.codes if computed and not self._profile.differs_by_row(n)]
        quantities = {*self._profile.numbers, *codes}
        kinds = {name for at, name in self._roles.columns if self._is_kind(at, name)}
        named = {name for _, name in self._roles.columns} & quantities
        is_counted = self._roles.find_counted() is not None
        is_ranked = bool({"most", "least", "count"} & self._asked)
        is_told_apart = is_counted or is_ranked or bool(named - kinds)
        return quantities - kinds if is_told_apart else quantities

    def _is_kind(self, at: int, name: str) -> bool:
        """Return whether numbers tell rows apart: which room has most guests, guests per room."""
        is_each = self._roles.operation(at - 1) in ("per", "each")
        is_each = is_each or self._roles.word(at - 1) in ("many", "viele")
        is_which = self._roles.word(at - 1) in LISTS["which"] - LISTS["persons"]
        return is_which or (is_each and self._profile.names_rows(name))

    def _choose_order(self) -> None:
        if {"highest", "most", "fast"} & self._asked or self._found.limit > 1:
            self._found.order = "highest"
        if {"lowest", "least"} & self._asked:
            if self._found.order and self._are_ends_joined():
                self._found.is_both = True
            elif self._found.order:
                self._found.doubt("both_ends")
            self._found.order = "lowest"

    def _are_ends_joined(self) -> bool:
        """Return whether "and the" joins two superlatives of one amount: the most and the least."""
        ends = ("highest", "most", "lowest", "least")
        places = sorted(self._roles.operations[name] for name in ends if name in self._asked)
        between = self._roles.tokens[places[0] + 1 : places[-1]]
        words = {token.word for token in between if token.role not in ("column", "unit")}
        measures = {name for _, name in self._roles.columns} & {*self._profile.numbers}
        return bool({"and", "und"} & words) and words <= GRAMMAR and len(measures) < 2

    def _choose_time(self, labels: _Named) -> None:
        """Rank the rows by their only, or only named, time where the first or the last is asked."""
        found, times = self._found, self._profile.time_columns
        named = [name for _, name in labels if name in times] or times
        open_words = [token for token in self._roles.tokens if not token.role]
        has_age = LISTS["ages"] & {*self._parts} - {n for name in times for n in split_name(name)}
        is_of_event = any(
            name not in times and not self._profile.differs_by_row(name) for _, name in labels
        )
        if has_age or is_of_event:
            open_words = [token for token in open_words if token.word not in LISTS["aged"]]
        early = [token for token in open_words if token.word in LISTS["early"]]
        late = [token for token in open_words if token.word in LISTS["late"]]
        if len(early) + len(late) == 1 and len(named) == 1 and not found.order:
            found.order = "lowest" if early else "highest"
            found.measure, found.bucket = named[0], ""
            (early or late)[0].role = "operation"

    def _choose_group(self, labels: _Named) -> None:
        found, profile = self._found, self._profile
        repeated = self._roles.list_compared(is_counted=self._roles.find_counted() is not None)
        named = [
            (at, name)
            for at, name in labels
            if name not in profile.time_columns
            and not (self._roles.has_own_cell(at, name) or self._roles.is_whole(at, name))
            and self._roles.word(at - 1) not in LISTS["whole"]
        ]
        is_total = {"sum", "average"} & self._asked and not found.order
        if is_total:
            asked = [each for each in named if self._roles.is_asked_for(each[0])]
            named = named if asked or len(named) > 1 else []
            is_each = "average" in self._asked or LISTS["comparing"] & {*self._words}
            repeated = repeated if is_each else []  # of a sum two names may be one amount
        if {"share", "percent", "average", "count"} & self._asked:
            named = [each for each in named if not self._profile.differs_by_row(each[1])]
        ranked = {self._roles.operations.get(name, -2) + 1 for name in ("most", "least")}
        kinds = [each for each in named if each[0] in ranked and len(named) > 1]
        if kinds and not self._profile.differs_by_row(kinds[0][1]):
            found.function, found.measure = "distinct", kinds[0][1]  # which has the most kinds
            named.remove(kinds[0])
            if profile.numbers and not self._roles.is_said_whole(found.measure):
                found.doubt("or_amount", name=found.measure)
                found.is_of_others = True
        named = self._count_per(named) or self._list_asked_rows()
        if named:
            found.group = named[0][1]
            found.doubt_others(found.group, [name for _, name in named[1:]])
        elif repeated and not found.bucket:
            alike = (each.part for each in found.conditions if each.column == repeated[0])
            part = next(alike, "")
            found.group, found.bucket = ("", part) if part else (repeated[0], "")
        elif not (found.bucket or found.has_period) and any(
            name in profile.time_columns
            and (self._roles.operation(at - 1) in ("per", "each") or not is_total)
            for at, name in labels
        ):
            parts = ("day", "month", "quarter", "year")
            found.bucket = next((part for part in parts if getattr(profile.times, part)), "")

    def _list_asked_rows(self) -> list[tuple[int, str]]:
        """Return what tells the rows apart where it is asked which is first: which delivery."""
        places = [at + 1 for at, word in enumerate(self._words) if word in LISTS["which"]]
        is_asked = bool(self._found.order) and self._roles.role([*places, -1][0]) == "title"
        return [(places[0], name) for name in self._profile.identities[:1] if is_asked]

    def _count_per(self, named: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """Count the rows where what tells them apart is asked for "per" a label, or as the most."""
        places = self._roles.operations
        per = max(places.get(name, -1) for name in ("per", "each"))
        most = max(places.get(name, -2) for name in ("most", "least")) + 1
        rows = [each for each in named if self._profile.differs_by_row(each[1])]
        counted = [each for each in rows if each[0] < per or each[0] == most]
        others = [each for each in named if each not in counted and (each[0] > per or most > 0)]
        if not counted or not (others or (self._found.bucket and most > 0)):
            return named
        self._found.function = "count"
        return others

    def _choose_measure(self, numbers: _Named) -> None:
        found, per = self._found, self._roles.operations.get("per", len(self._roles.tokens))
        names = [name for _, name in numbers]
        of = self._roles.operations.get("share", self._roles.operations.get("percent"))
        if of is not None and self._roles.word(of + 1) in ("of", "von", "der"):
            per = of  # A as a percentage of B, what percentage of B is A
        after = [each for each in numbers if each[0] > per]
        below = [name for at, name in after if per == of or self._roles.is_near(per, at)]
        if below and len(names) > 1:
            found.divisor = below[0]
            names.remove(found.divisor)
        elif len(names) > 1 and {"grow", "shrink", "change"} & self._asked and not found.ends:
            found.second = names.pop(1)
            if self._roles.word(numbers[1][0] - 1) in LISTS["bases"]:  # the growth of A over B
                names[0], found.second = found.second, names[0]
        if names:
            places = [at for at, name in numbers if name in names]
            is_listed = self._roles.are_listed(places)
            if len(names) > 1 and self._roles.are_one_noun(places):
                names.reverse()  # fuel cost is a cost
            found.measure, *others = names
            is_ranked = bool(found.group and found.order)
            is_plain = is_listed and not (is_ranked or found.divisor or found.second)
            found.others = others if is_plain else []
            found.doubt_others(found.measure, [] if is_plain else others)

    def _choose_function(self, labels: _Named) -> None:
        found, counted, places = self._found, self._roles.find_counted(), self._roles.operations
        if {"average", "sum"} & self._asked or found.divisor:
            is_average = "average" in self._asked and not found.divisor
            found.function = "average" if is_average else "sum"
        at = places.get("average", -1)
        is_adverb = self._roles.word(at - 1) in ("on", "im") and not (labels or found.bucket)
        if counted is not None and at > counted and not (is_adverb and found.measure):
            found.doubt("and_average")
        is_bare = found.measure and self._asked <= {"count"} and not found.others
        if counted is not None and is_bare and self._roles.is_label_next(counted):
            found.doubt("or_sum", name=found.measure)  # trails with a fee
            found.is_of_others = True
        if found.measure and not found.divisor:
            self._choose_sum(is_counted=counted is not None)
        ranked = [
            places[name]
            for name in ("most", "least")
            if name in places and self._roles.is_amount(places[name])
        ]
        is_counting = counted is not None or ranked or "share" in self._asked
        self._choose_counted_unit(counted)
        if is_counting and not found.measure:
            found.function = "count"
            if counted is None or not self._choose_counted(labels, counted):
                name_rows(self._roles, ranked[0] + 1 if ranked else counted or 0)
        elif is_counting and found.measure:
            name_unit(self._roles, ranked[0] + 1 if ranked else counted or 0)

    def _choose_count(self) -> None:
        """Add up a column of frequencies; without one, doubt a count beside a named amount."""
        found = self._found
        if found.measure:
            found.doubt("or_sum", name=found.measure)
            found.is_of_others = True
        if self._profile.differs_by_row(found.group) and not found.order:
            found.group = ""  # each has one row
        if frequency := self._profile.frequency:
            found.function, found.measure = "sum", frequency
            if not self._profile.is_crossed:
                found.doubt("or_sum", name=frequency)

    def _choose_counted_unit(self, counted: int | None) -> None:
        """Add up the only quantity where its unit is counted: doses, of `unit` and `quantity`."""
        found, profile = self._found, self._profile
        near = [each for each in found.conditions if each.at == counted and each.is_value]
        units = [each for each in near if {*split_name(each.column)} & LISTS["measured by"]]
        if found.measure or not units:
            return
        plain = [n for n in profile.numbers if not (profile.is_intensive(n) or split_unit(n)[1])]
        if len(plain) == 1:
            found.function, found.measure = "sum", plain[0]
        else:
            found.doubt("or_amount", name=units[0].words)
            found.is_of_others = True

    def _choose_counted(self, labels: _Named, counted: int) -> bool:
        """Choose to count different cells or periods; return whether the words name them."""
        found, profile, first = self._found, self._profile, counted
        while self._roles.word(counted) in GRAMMAR | LISTS["kinds"]:
            counted += 1
        at, named = next(((at, name) for at, name in labels if at >= counted), (0, ""))
        before = self._roles.tokens[counted:at]
        known = ("column", "cell", "condition")
        if any(each.role not in known and each.word not in LINKS for each in before):
            return bool(found.counted)
        if named in profile.time_columns and found.bucket:
            found.counted, found.bucket = found.bucket, ""
        if found.order or not (found.counted or (named and named == found.group)):
            return False
        if self._roles.is_asked_for(at) and not found.counted:
            return False
        found.group = ""
        kinds = [n for n in range(first, counted) if self._roles.word(n) in LISTS["kinds"]]
        self._roles.take(kinds, "operation")
        if not any(
            map(self._profile.differs_by_row, profile.time_columns if found.counted else [named])
        ):
            found.function, found.measure = "distinct", "" if found.counted else named
            self._doubt_distinct(is_said=bool(kinds))
        return True

    def _doubt_distinct(self, *, is_said: bool) -> None:
        """Doubt the number of different cells where nearly each row has its own: items."""
        found, profile = self._found, self._profile
        if not is_said and 4 * profile.distinct.get(found.measure, 0) > 3 * profile.rows:
            found.doubt("kinds_or_rows", name=found.measure)
        if any(each.column in profile.numbers for each in found.conditions):
            found.doubt("of_rows")

    def _choose_sum(self, *, is_counted: bool) -> None:
        """Choose whether amounts are added up, and doubt it where that may mean nothing."""
        found, profile = self._found, self._profile
        is_most = bool({"most", "least"} & self._asked)
        how_much = any(token.word in ("much", "viel") for token in self._roles.tokens)
        is_over_all = any(
            self._roles.word(at - 1) in ("all", "alle") and name not in profile.numbers
            for at, name in self._roles.columns
        )
        is_open = found.function == "value" and (is_counted or is_most or how_much or is_over_all)
        if is_open and not (
            profile.is_intensive(found.measure) or self._profile.differs_by_row(found.group)
        ):
            found.function = "sum"
        unit = split_unit(found.measure)[1].lower().split()
        if is_open and (is_counted or how_much) and self._profile.differs_by_row(found.group):
            self._sum_up()
        if found.function == "sum" and is_counted and unit and not {*unit} & {*self._words}:
            found.doubt("as_sum", name=found.measure)
        if found.function == "sum" and profile.is_intensive(found.measure, NEVER_ADDED):
            found.doubt("not_added", name=found.measure)
        if found.function != "value" and found.measure in profile.codes:
            found.doubt("codes", name=found.measure)
        is_change = bool({"grow", "shrink", "change"} & self._asked)
        has_period = found.bucket or found.has_period or not profile.time_columns
        if is_open and not (is_most or is_change or has_period) and profile.is_crossed:
            found.doubt("several_periods")

    def _sum_up(self) -> None:
        """Add up the rows whose own name is not asked for: seats in rooms with a view."""
        found = self._found
        places = [at for at, name in self._roles.columns if name == found.group]
        if not (any(map(self._roles.is_asked_for, places)) or found.order or found.others):
            found.group = ""
            found.function = "value" if self._profile.is_intensive(found.measure) else "sum"

    def _choose_change(self) -> None:
        found, places = self._found, self._roles.operations
        words = [places[name] for name in ("grow", "shrink", "change") if name in places]
        has_one_period = found.has_period and not found.ends
        has_amount = found.measure != "" and found.function != "distinct"
        is_none = "share" in self._asked or not (words and has_amount)
        if is_none or (has_one_period and not found.second):
            for at in [*words, *([places["fast"]] if "fast" in places else [])]:
                self._roles.tokens[at].role = ""
            return
        if found.compared:
            self._choose_pace()
        found.change = "percent" if {"percent", "fast"} & self._asked else "both"
        if not found.second:
            found.conditions = [each for each in found.conditions if not each.part]
        if "shrink" in self._asked and found.order == "highest":
            found.order = "lowest"
        if found.bucket and not found.ends:
            found.unread.append(found.bucket)
        found.bucket = ""

    def _choose_pace(self) -> None:
        """Compare the years or months of a growth year over year, of which there must be two."""
        found, profile = self._found, self._profile
        found.time = profile.times.write_bucket(found.compared)
        if not found.ends and profile.spans.get(found.compared) != 2:
            found.doubt("first_and_last", period=found.compared)

    def _choose_share(self) -> None:
        """Divide the conditions of a share into those of the whole and those of the part."""
        found, tokens = self._found, self._roles.tokens
        if found.divisor:
            found.per = 100
            return
        at = self._roles.operations.get("share", self._roles.operations.get("percent", 0))
        ofs = [n for n in range(at, len(tokens)) if tokens[n].word in ("of", "der", "von")]
        start = ofs[0] if ofs else len(tokens)
        verbs = [n for n in range(start, len(tokens)) if tokens[n].word in LISTS["verbs"]]
        own = sorted((each for each in found.conditions if not each.part), key=lambda c: c.at)
        whole = [each for each in own if start < each.at < min(verbs, default=0)]
        if len(own) > 1 and not verbs and ofs:  # of passengers in 3rd class survived
            whole, before = own[:-1], own[-1].at
            if {self._roles.word(before - 1), self._roles.word(before - 2)} & LISTS["inside"]:
                found.doubt("share_in", words=own[-1].words)
        found.part = [each for each in own if each not in whole] or own
        found.conditions = [each for each in found.conditions if each not in found.part]
        found.is_share = True
        if not found.part and not (found.group or found.bucket):
            found.unread.append(tokens[at].text)
        if found.function == "value":
            found.function = "sum" if found.measure else "count"
        if found.function == "count" and ofs:
            name_rows(self._roles, start + 1)
