"""What to compute over the rows of a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Aggregate = Literal["none", "sum", "average", "count", "minimum", "maximum"]
Change = Literal["none", "growth", "difference"]
SortKey = Literal["value", "fastest"]
Order = Literal["highest", "lowest"]
Period = Literal["as_given", "year", "quarter", "month"]
Language = Literal["en", "de"]
Doubles = Literal["count", "drop"]


@dataclass(frozen=True)
class Question:
    """What to compute over a table."""

    measures: Sequence[str] = ()
    aggregate: Aggregate = "none"
    divide_by: str = ""
    group_by: str = ""
    rows_with: Sequence[str] = ()
    change: Change = "none"
    time_column: str = ""
    period: Period = "as_given"
    sort_by: SortKey = "value"
    order: Order = "highest"
    limit: int = 20
    doubles: Doubles = "count"
    where: Sequence[str] = ()
    """Conditions on numbers and periods: `trips > 1000`, `2025-01 to 2025-03`."""
    per: int = 1
    """With `divide_by`: the number of its units that the ratio is for."""
    share: bool = False
    """Each value as a share of all, in percent; of the rows that `rows_with` names."""
    question: str = ""
    """The user's words, from which is read what the rest leaves open."""
    language: Language = "en"

    @property
    def names_nothing(self) -> bool:
        """Whether no column of numbers and no row is named."""
        return not (self.measures or self.rows_with)

    @property
    def is_read(self) -> bool:
        """Whether words are to be read against the table, or what only their reading computes."""
        is_bucket = self.period in ("quarter", "month")
        is_new = self.where or self.per > 1 or self.share or self.change == "difference"
        return bool(self.question or is_new or is_bucket)
