"""Rank, filter, sum and compare the rows of a table."""

from typing import Any

from langchain_core.tools import BaseTool, tool
from pydantic import BaseModel, Field

from extensions.tools.sql.client import collect_tables, run_table_analysis
from extensions.tools.sql.table_arguments import (
    Aggregate,
    Change,
    Doubles,
    Language,
    Order,
    Period,
    SortKey,
)
from nodes.tools.framework.argument_types import (
    Cell,
    LabelColumn,
    NumberColumn,
    PerColumn,
    Table,
    Text,
    TimeColumn,
)
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.settings import ToolSettings

MAX_NAMES = 20


class TableArguments(BaseModel):
    """What to compute, of which table; the names are those of `Question`."""

    table: Table = Field(
        "",
        description="Name of a .csv file, of a sheet such as book.xlsx#Sheet, or of a table of the "
        "database; empty: the one with the named columns",
        max_length=300,
    )
    measures: list[NumberColumn] = Field(
        [], description="Columns of numbers to rank or compute", max_length=MAX_NAMES
    )
    aggregate: Aggregate = Field(
        "none", description="What to compute of the measures; count: of the rows"
    )
    divide_by: PerColumn = Field(
        "", description="Column to divide by: visitors, for revenue per visitor"
    )
    group_by: LabelColumn = Field(
        "", description="Column whose values get a row each", max_length=300
    )
    rows_with: list[Cell] = Field(
        [],
        description="Values that the rows hold, such as names or years; values of one column are "
        "alternatives; empty: all rows",
        max_length=MAX_NAMES,
    )
    change: Change = Field(
        "none",
        description="From the first to the last period, or between two measures: growth in "
        "percent, or the difference",
    )
    time_column: TimeColumn = Field(
        "",
        description="Column of the periods; empty: the first one of years, months or dates",
        max_length=300,
    )
    period: Period = Field("as_given", description="Periods that days and months are summed by")
    sort_by: SortKey = Field(
        "value", description="With growth: rank by the last value, or fastest first"
    )
    order: Order = Field("highest", description="Which rows come first")
    limit: int = Field(20, description="Largest number of rows", ge=1, le=200)
    doubles: Doubles = Field(
        "count", description="drop: a row that repeats an earlier one does not count"
    )
    where: list[Text] = Field(
        [],
        description="Conditions that all hold: `trips > 1000`, `staff >= 20`, `2025-Q2`, "
        "`2024-11 to 2025-02`, `since 2020`",
        max_length=MAX_NAMES,
    )
    per: int = Field(1, description="With divide_by: 1000 for complaints per 1,000 trips", ge=1)
    share: bool = Field(
        False, description="In percent: of each group, or of the rows that rows_with names"
    )
    question: Text = Field(
        "",
        description="The user's words: whatever the other arguments leave open is read from them "
        "against the real columns and cells",
        max_length=4000,
    )
    after: Text = Field(
        "",
        description="The questions before it, if it says `it` or `there`; they are not answered",
        max_length=4000,
    )
    language: Language = Field("en", description="Of the summary of a question")
    materials: Materials = None


def analyze_table(settings: ToolSettings, *, timeout_s: float = 2.0) -> BaseTool:
    """Build the tool over the .csv files and `settings.sql_url`."""

    @tool("analyze_table", args_schema=TableArguments)
    async def analyze(table: str, materials: Materials = None, **asked: Any) -> dict[str, Any]:
        """Rank, filter, sum, average, count, or compute the growth of a table's rows.

        Without arguments it lists the tables with their columns; with `question` alone it reads the
        user's words, and names in `gaps` what it could not read. The result has the rows in order,
        each with its source; its gaps name cells that did not count, and what looks wrong.
        Example: analyze_table(table="sales.csv", measures=["revenue"], group_by="region", limit=3)
        """
        location, tables = await collect_tables(settings, materials)
        return await run_table_analysis(location, tables, table, asked, timeout_s=timeout_s)

    return analyze
