"""What a model may write into a tool's arguments, by the rows of the catalogue of faults."""

import hashlib
import os
import sqlite3
from typing import Final

import pytest
from pydantic import ValidationError

from extensions.tools.check_sources import check_sources
from extensions.tools.format_document import format_document
from extensions.tools.query_database import query_database
from extensions.tools.search_documents import search_documents
from extensions.tools.sql.child_program import run_statement
from nodes.errors import ToolRefused
from nodes.tools.framework.settings import ToolSettings


@pytest.fixture
def base(tmp_path):
    """A SQLite file with one table."""
    path = tmp_path / "sales.db"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE sales (region TEXT, revenue REAL)")
        made.executemany("INSERT INTO sales VALUES (?, ?)", [("North", n) for n in range(300)])
    made.close()
    return path


READING: Final = (
    *("REPLACE INTO sales VALUES ('x', 1)", "INSERT INTO sales VALUES ('x', 1)", "BEGIN"),
    *("UPDATE sales SET revenue = 0", "DELETE FROM sales", "DROP TABLE sales", "ANALYZE"),
    *("ALTER TABLE sales ADD x", "CREATE TEMP TABLE other AS SELECT 1", "SAVEPOINT s"),
    *("VACUUM INTO 'new.db'", "ATTACH '/etc/passwd' AS p", "ATTACH 'new.db' AS p", "DETACH main"),
    *("PRAGMA query_only = 0", "PRAGMA table_info(sales)", "PRAGMA writable_schema = 1"),
    *("SELECT 1; SELECT 2", "SELECT 1; DROP TABLE sales", "SELECT load_extension('x')"),
    *("SELECT * FROM sqlite_master", "SELECT sql FROM sqlite_master"),
    *("SELECT * FROM pragma_table_list", "SELECT zeroblob(2000000000)", "SELEC 1"),
    *("SELECT turnover FROM sales", "SELECT * FROM sale", "no sql at all"),
)


@pytest.mark.parametrize("sql", READING)
def test_a_database_gives_rows_or_a_refusal_and_stays_as_it_was(base, sql):
    before = hashlib.sha256(base.read_bytes()).digest(), sorted(os.listdir(base.parent))

    found = run_statement("sqlite", str(base), {}, sql, 5.0)

    assert found["error"] and found["tables"][0]["columns"] == ["region", "revenue"]
    assert (hashlib.sha256(base.read_bytes()).digest(), sorted(os.listdir(base.parent))) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM sales a, sales b, sales c",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
        "SELECT hex(randomblob(500000000))",
    ],
)
async def test_a_result_without_end_is_cut_or_ended(base, sql):
    tool = query_database(ToolSettings(sql_url=str(base)))

    try:
        found = await tool.ainvoke({"sql": sql, "materials": None})
    except ToolRefused:
        return

    assert len(found["rows"]) <= 200 and "cut" in found


NAMES: Final = (
    *("../../etc/passwd", "/etc/passwd", "..%2f..%2fetc%2fpasswd", "C:\\Windows\\win.ini"),
    *("note.md\x00.txt", "/proc/self/environ", "/dev/zero", "x" * 300, "file:///etc/passwd"),
)


@pytest.mark.parametrize("name", NAMES)
async def test_a_source_outside_the_documents_is_not_read(tmp_path, name):
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "note.md").write_text("root is in the note")
    tool = check_sources(ToolSettings(documents=tmp_path / "documents"))

    claim = {"text": "root", "source": name, "quotation": "root:x:0"}
    found = await tool.ainvoke({"claims": [claim], "materials": None})

    assert found["results"][0]["verdict"] == "source_unknown"


async def test_a16_links_pipes_and_devices_among_the_documents_are_not_read(tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    os.mkfifo(folder / "pipe.txt")
    (folder / "out.txt").symlink_to("/etc/passwd")
    (folder / "up").symlink_to(tmp_path)
    (tmp_path / "secret.txt").write_text("root of all")
    (folder / "note.md").write_text("a note")

    found = await search_documents(ToolSettings(documents=folder)).ainvoke({"query": "root"})

    assert found["results"] == []


@pytest.mark.parametrize("title", [*NAMES, ".", "..", "", "\u202e", "a/b/c", "CON"])
async def test_a_document_is_written_into_its_folder_whatever_its_title(tmp_path, title):
    tool = format_document(ToolSettings(output=tmp_path / "output"))

    await tool.ainvoke({"markdown": "# x", "title": title})

    (written,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written.parent == tmp_path / "output" and len(written.name) < 100


async def test_a22_an_unknown_format_is_refused_and_a_wide_table_is_written(tmp_path):
    tool = format_document(ToolSettings(output=tmp_path))
    wide = "\n".join(["|" + "a|" * 10_000, "|" + "-|" * 10_000, "|" + "1|" * 10_000])

    with pytest.raises(ValidationError, match="markdown"):
        await tool.ainvoke({"markdown": "# x", "format": "exe"})
    found = await tool.ainvoke({"markdown": wide, "format": "html"})

    assert found["bytes"] > 10_000
