"""What to compute over the rows of a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Aggregate = Literal["none", "sum", "average", "count", "minimum", "maximum"]
Change = Literal["none", "growth"]
SortKey = Literal["value", "fastest"]
Order = Literal["highest", "lowest"]
Period = Literal["as_given", "year"]
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

    @property
    def names_nothing(self) -> bool:
        """Whether no column of numbers and no row is named."""
        return not (self.measures or self.rows_with)
