"""Rank, filter, sum and compare the rows of a table."""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState
from pydantic import Field

from nodes.tools.framework.argument_types import (
    Cell,
    LabelColumn,
    NumberColumn,
    PerColumn,
    Table,
    TimeColumn,
)
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.sql.client import run_table_analysis
from nodes.tools.sql.table_materials import collect_tables
from nodes.tools.sql.table_question import Aggregate, Change, Doubles, Order, Period, SortKey

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
            Change, Field(description="growth: from the first to the last period, in percent")
        ] = "none",
        time_column: Annotated[
            TimeColumn,
            Field(
                description="Column of the periods; empty: the first one of years, months or dates",
                max_length=300,
            ),
        ] = "",
        period: Annotated[
            Period, Field(description="year: quarters, months and days are summed by year")
        ] = "as_given",
        sort_by: Annotated[
            SortKey, Field(description="With growth: rank by the last value, or fastest first")
        ] = "value",
        order: Annotated[Order, Field(description="Which rows come first")] = "highest",
        limit: Annotated[int, Field(description="Largest number of rows", ge=1, le=200)] = 20,
        doubles: Annotated[
            Doubles, Field(description="drop: a row that repeats an earlier one does not count")
        ] = "count",
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Rank, filter, sum, average, count, or compute the growth of a table's rows.

        Without arguments it lists the tables with their columns. The result has the rows in order,
        each with its source; its gaps name cells that did not count, and what looks wrong.
        Example: analyze_table(table="sales.csv", measures=["revenue"], group_by="region", limit=3)
        """
        location, tables = await collect_tables(settings, materials)
        question = {
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
        }
        return await run_table_analysis(location, tables, table, question, timeout_s=timeout_s)

    return analyze
