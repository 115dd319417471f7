"""Reading SQL, and nothing but reading."""

import json
import sqlite3

import duckdb
import pytest

from extensions.tools.query_database import query_database
from extensions.tools.sql import duckdb_reader as duck_engine
from extensions.tools.sql import sqlite as sqlite_engine
from extensions.tools.sql.location import DatabaseLocation, locate_database
from extensions.tools.sql.tables import (
    MAX_CELL_CHARS,
    RESERVED_WORDS,
    convert_cell,
    describe_result,
    name_tables,
)
from nodes.errors import ToolFailed, ToolRefused
from nodes.tools.framework.documents import MAX_TEXT_CHARS, read_document
from nodes.tools.framework.settings import ToolSettings

pytestmark = pytest.mark.slow

SHEET = {"Cloud Caps.csv": "provider,cap_bn\nAWS,2.5\nAzure,3130\n", "note.md": "no table"}


@pytest.fixture
def sales(tmp_path):
    """A SQLite file with one table of two rows."""
    base = sqlite3.connect(tmp_path / "sales.db")
    base.execute("CREATE TABLE sales (provider TEXT, revenue REAL)")
    base.executemany("INSERT INTO sales VALUES (?, ?)", [("AWS", 107.5), ("Azure", 75)])
    base.commit()
    base.close()
    return tmp_path / "sales.db"


@pytest.fixture
def duck(tmp_path):
    """A DuckDB file with one table of one row."""
    with duckdb.connect(str(tmp_path / "sales.duckdb")) as base:
        base.execute("CREATE TABLE sales AS SELECT 'AWS' AS provider, 107.5 AS revenue")
    return tmp_path / "sales.duckdb"


async def run_query_tool(url, sql, materials=None, **options):
    tool = query_database(ToolSettings(sql_url=str(url) if url else None), **options)
    return await tool.ainvoke({"sql": sql, "materials": materials})


async def test_a_sqlite_file_and_a_csv_material_are_queried_together(sales):
    listed = await run_query_tool(sales, "show tables;", SHEET)
    found = await run_query_tool(
        f"sqlite:///{sales}",
        "SELECT s.provider, revenue, cap_bn FROM sales s JOIN cloud_caps c USING (provider)",
        SHEET,
    )

    assert listed["tables"] == [
        {"table": "cloud_caps", "columns": ["provider", "cap_bn"], "source": "Cloud Caps.csv"},
        {"table": "sales", "columns": ["provider", "revenue"], "source": "sales"},
    ]
    assert found["rows"] == [["AWS", 107.5, 2.5], ["Azure", 75, 3130]]
    assert found["results"][0] == {
        "source": "Cloud Caps.csv, sales",
        "text": "provider: AWS; revenue: 107.5; cap_bn: 2.5",
    }


async def test_csv_materials_alone_are_a_database():
    found = await run_query_tool(None, "SELECT max(cap_bn) AS top FROM cloud_caps", SHEET)

    assert found["columns"] == ["top"] and found["rows"] == [[3130]]
    assert found["results"][0]["source"] == "Cloud Caps.csv"


async def test_a_duckdb_file_and_a_folder_of_files_are_queried(duck, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "growth.csv").write_text("provider,pct\nAWS,17\n")
    (tmp_path / "folder" / "broken.parquet").write_bytes(b"no parquet")

    base = await run_query_tool(
        f"duckdb:///{duck}", "SELECT revenue, cap_bn FROM sales, cloud_caps", SHEET
    )
    folder = await run_query_tool(tmp_path / "folder", "SELECT pct FROM growth")
    listed = await run_query_tool(tmp_path / "folder", "SHOW TABLES")

    assert base["rows"] == [[107.5, 2.5], [107.5, 3130]]
    assert folder["results"] == [{"source": "growth.csv", "text": "pct: 17"}]
    assert [table["table"] for table in listed["tables"]] == ["growth"]


async def test_a_refusal_of_sqlite_names_the_tables(sales):
    with pytest.raises(ToolRefused, match=r"Tables: sales\(provider, revenue\)"):
        await run_query_tool(sales, "DELETE FROM sales")


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
        "SELECT printf('%.*c', 2000000000, 'x')",
    ],
)
async def test_an_endless_statement_is_ended(sales, sql):
    with pytest.raises(ToolFailed, match="took too long"):
        await run_query_tool(sales, sql, timeout_s=0.05)


async def test_a_file_that_is_no_table_hides_no_other_and_is_named(tmp_path):
    (tmp_path / "good.csv").write_text("a,b\n1,2\n")
    (tmp_path / "broken.parquet").write_bytes(b"no parquet")

    listed = await run_query_tool(str(tmp_path), "SHOW TABLES")

    assert [table["table"] for table in listed["tables"]] == ["good"]
    (gap,) = listed["gaps"]
    assert gap.startswith("Not read as a table: broken.parquet cannot be read: ")
    assert str(tmp_path) not in gap and "\n" not in gap


async def test_rows_are_capped_and_the_cut_is_marked():
    found = await run_query_tool(None, "SELECT * FROM range(1000) AS numbers(n)", SHEET)

    assert len(found["rows"]) == 200 and len(found["results"]) == 20
    assert "200" in found["cut"]


async def test_a_sheet_of_which_only_the_beginning_was_read_is_refused_and_said_how_to_query(
    tmp_path,
):
    sheet = tmp_path / "big.csv"
    sheet.write_text("id\n" + "1234567\n" * (MAX_TEXT_CHARS // 8))

    with pytest.raises(ToolRefused, match=r"only the first 2 MB of big\.csv.* SUPERVISE_SQL_URL"):
        await run_query_tool(None, "SELECT sum(id) FROM big", {"big.csv": read_document(sheet)[""]})

    whole = await run_query_tool(sheet, "SELECT count(*) AS n FROM big")
    assert whole["rows"] == [[MAX_TEXT_CHARS // 8]]


async def test_no_database_and_no_sheet_is_refused(tmp_path):
    for url in (None, tmp_path / "missing.db", "mysql://host/base"):
        with pytest.raises(ToolRefused, match="SUPERVISE_SQL_URL"):
            await run_query_tool(url, "SHOW TABLES")


async def test_an_unreachable_server_is_a_failure_without_its_password():
    with pytest.raises(ToolFailed, match="cannot be reached") as failure:
        await run_query_tool("postgresql://user:secret@127.0.0.1:1/base", "SHOW TABLES")

    assert "secret" not in str(failure.value)


def test_the_engine_is_inferred_from_the_file(tmp_path, sales, duck):
    (tmp_path / "a.csv").write_text("a\n1\n")

    engines = [
        locate_database(str(path)).engine for path in (sales, duck, tmp_path / "a.csv", tmp_path)
    ]

    assert engines == ["sqlite", "duckdb", "files", "files"]
    assert locate_database("postgres://host/base").engine == "postgres"


def test_tables_of_the_same_name_get_numbers():
    assert name_tables(["a b.csv", "x/A-B.csv", "2024.csv"]) == {
        "a_b": "a b.csv",
        "a_b_2": "x/A-B.csv",
        "t_2024": "2024.csv",
    }


ODD_NAMES = (
    *("sqlite_master.csv", "sqlite_sequence.csv", "SQLITE_Schema.csv", "sqlite_stat1.csv"),
    *("select.csv", "order.csv", "a'b.csv", 'a"b.csv', "a;drop table sales.csv", ".csv", "---.csv"),
    *("1.csv", "source.csv", "main.csv", "memory.csv", "temp.csv", "pg_class.csv"),
    *("duckdb_tables.csv", "information_schema.csv", "sales/../sales.csv"),
    *("\u00c9t\u00e9 \u65e5\u672c.csv", "\u65e5" * 200 + ".csv"),
    *(f"{'long' * 40}.csv", f"{'long' * 40} too.csv"),
)


@pytest.mark.parametrize("engine", ["sqlite", "csv"])
async def test_an_odd_file_name_is_a_table_like_others_and_spoils_none(engine, sales):
    url = sales if engine == "sqlite" else None
    sheets = {name: f"n,place\n{n},here\n" for n, name in enumerate(ODD_NAMES)} | SHEET

    listed = await run_query_tool(url, "SHOW TABLES", sheets)
    other = await run_query_tool(url, "SELECT sum(cap_bn) AS total FROM cloud_caps", sheets)
    tables = {table["source"]: table["table"] for table in listed["tables"]}
    every = " UNION ALL ".join(f"SELECT n FROM {tables[name]}" for name in ODD_NAMES)
    found = await run_query_tool(url, every, sheets)

    assert other["rows"] == [[3132.5]]
    assert sorted(row[0] for row in found["rows"]) == list(range(len(ODD_NAMES)))


def test_a_file_named_like_any_word_of_sql_is_queried_without_quotation_marks(sales):
    words = duckdb.connect(":memory:").execute("SELECT keyword_name FROM duckdb_keywords()")
    sheets = {
        f"{word}.csv": "n\n1\n" for word in RESERVED_WORDS | {row[0] for row in words.fetchall()}
    }
    tables = list(name_tables(sheets))

    with sqlite_engine.connect(DatabaseLocation("sqlite", str(sales)), sheets, "") as (
        base,
        loaded,
    ):
        found = [sqlite_engine.run_query(base, f"SELECT {t}.n FROM {t}", 5.0)[1] for t in tables]
    with duck_engine.connect(DatabaseLocation("none"), sheets, "") as (duck_base, duck_loaded):
        for table in tables:
            duck_base.execute(f"SELECT {table}.n FROM {table}")

    assert loaded.broken == duck_loaded.broken == {}
    assert found == [[(1,)]] * len(tables) and len(tables) > 400


@pytest.mark.parametrize("engine", ["sqlite", "csv"])
async def test_a_sheet_that_is_no_table_hides_no_other_and_says_why_when_it_is_named(engine, sales):
    url = sales if engine == "sqlite" else None
    wide = ",".join(f"c{n}" for n in range(3000))
    broken = {"cell.csv": f'a,b\n1,"{"x" * 3_000_000}\n', "wide.csv": f"{wide}\n{wide}\n"}
    sheets = (broken if engine == "sqlite" else {"cell.csv": broken["cell.csv"]}) | SHEET

    found = await run_query_tool(url, "SELECT max(cap_bn) AS top FROM cloud_caps", sheets)
    for table in {name.removesuffix(".csv") for name in sheets if name in broken}:
        with pytest.raises(ToolRefused) as refusal:
            await run_query_tool(url, f"SELECT * FROM {table}", sheets)
        assert "no such table" not in str(refusal.value) and "\n" not in str(refusal.value)
        assert len(str(refusal.value)) < 2_500

    assert found["rows"] == [[3130]]


def test_values_are_fit_for_json_and_a_model():
    shown = [
        convert_cell(value) for value in (2**70, 75.0, 0.1 + 0.2, float("inf"), b"abc", None, True)
    ]

    assert shown == [str(2**70), 75, 0.3, "inf", "[3 bytes]", None, True]
    assert len(str(convert_cell("x" * 10_000))) < MAX_CELL_CHARS + 60


def test_a_result_that_is_too_large_is_cut_by_rows():
    rows = [["x" * 500] * 10] * 100

    shown = describe_result("SELECT", [], [f"c{n}" for n in range(10)], rows)

    assert 0 < len(shown["rows"]) < 100 and "too large" in shown["cut"]
    assert len(json.dumps(shown)) < 1_000_000
