"""Rank, filter, sum and compare the rows of a table."""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState
from pydantic import Field

from extensions.tools.sql.client import collect_tables, run_table_analysis
from extensions.tools.sql.table_question import (
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
from nodes.tools.framework.settings import ToolSettings

MAX_NAMES = 20


def analyze_table(settings: ToolSettings, *, timeout_s: float = 2.0) -> BaseTool:
    """Build the tool over the .csv files and `settings.sql_url`."""

    @tool("analyze_table")
    async def analyze(
        table: Annotated[
            Table,
            Field(
                description="Name of a .csv file, of a sheet such as book.xlsx#Sheet, or of a "
                "table of the database; empty: the one with the named columns",
                max_length=300,
            ),
        ] = "",
        measures: Annotated[
            list[NumberColumn],
            Field(description="Columns of numbers to rank or compute", max_length=MAX_NAMES),
        ] = [],  # noqa: B006  (a schema shows it)
        aggregate: Annotated[
            Aggregate,
            Field(description="What to compute of the measures; count: of the rows"),
        ] = "none",
        divide_by: Annotated[
            PerColumn,
            Table,
            Field(description="Column to divide by: visitors, for revenue per visitor"),
        ] = "",
        group_by: Annotated[
            LabelColumn,
            Field(description="Column whose values get a row each", max_length=300),
        ] = "",
        rows_with: Annotated[
            list[Cell],
            Field(
                description="Values that the rows hold, such as names or years; values of one "
                "column are alternatives; empty: all rows",
                max_length=MAX_NAMES,
            ),
        ] = [],  # noqa: B006
        change: Annotated[
            Change,
            Field(
                description="From the first to the last period, or between two measures: growth "
                "in percent, or the difference"
            ),
        ] = "none",
        time_column: Annotated[
            TimeColumn,
            Field(
                description="Column of the periods; empty: the first one of years, months or dates",
                max_length=300,
            ),
        ] = "",
        period: Annotated[
            Period, Field(description="Periods that days and months are summed by")
        ] = "as_given",
        sort_by: Annotated[
            SortKey, Field(description="With growth: rank by the last value, or fastest first")
        ] = "value",
        order: Annotated[Order, Field(description="Which rows come first")] = "highest",
        limit: Annotated[int, Field(description="Largest number of rows", ge=1, le=200)] = 20,
        doubles: Annotated[
            Doubles, Field(description="drop: a row that repeats an earlier one does not count")
        ] = "count",
        where: Annotated[
            list[Text],
            Field(
                description="Conditions that all hold: `trips > 1000`, `staff >= 20`, `2025-Q2`, "
                "`2024-11 to 2025-02`, `since 2020`",
                max_length=MAX_NAMES,
            ),
        ] = [],  # noqa: B006
        per: Annotated[
            int, Field(description="With divide_by: 1000 for complaints per 1,000 trips", ge=1)
        ] = 1,
        share: Annotated[
            bool,
            Field(description="In percent: of each group, or of the rows that rows_with names"),
        ] = False,
        question: Annotated[
            Text,
            Field(
                description="The user's words: whatever the other arguments leave open is read "
                "from them against the real columns and cells",
                max_length=4000,
            ),
        ] = "",
        language: Annotated[Language, Field(description="Of the summary of a question")] = "en",
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Rank, filter, sum, average, count, or compute the growth of a table's rows.

        Without arguments it lists the tables with their columns; with `question` alone it reads the
        user's words, and names in `gaps` what it could not read. The result has the rows in order,
        each with its source; its gaps name cells that did not count, and what looks wrong.
        Example: analyze_table(table="sales.csv", measures=["revenue"], group_by="region", limit=3)
        """
        location, tables = await collect_tables(settings, materials)
        asked = {
            "measures": measures,
            "aggregate": aggregate,
            "divide_by": divide_by,
            "group_by": group_by,
            "rows_with": rows_with,
            "change": change,
            "time_column": time_column,
            "period": period,
            "sort_by": sort_by,
            "order": order,
            "limit": limit,
            "doubles": doubles,
            "where": where,
            "per": per,
            "share": share,
            "question": question,
            "language": language,
        }
        return await run_table_analysis(location, tables, table, asked, timeout_s=timeout_s)

    return analyze
