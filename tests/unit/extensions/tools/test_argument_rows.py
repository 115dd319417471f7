"""What a model may write into a tool's arguments, by the rows of the catalogue of faults."""

import hashlib
import os
import sqlite3

import pytest
from pydantic import ValidationError

from extensions.tools.calculate import calculate
from extensions.tools.check_sources import check_sources
from extensions.tools.fetch_page import fetch_page
from extensions.tools.format_document import format_document
from extensions.tools.query_database import query_database
from extensions.tools.search_documents import search_documents
from nodes.errors import ToolRefused
from nodes.tools.framework.settings import ToolSettings


def make_rows(name, *values):
    return [pytest.param(value, id=f"{name}-{number}") for number, value in enumerate(values)]


@pytest.mark.parametrize(
    "url",
    [
        *make_rows(
            "A01", "http://[::ffff:127.0.0.1]/", "http://0/", "http://0177.0.0.1/", "http://127.1/"
        ),
        *make_rows(
            "A01-hidden", "http://[64:ff9b::7f00:1]/", "http://[::127.0.0.1]/", "http://[fec0::1]/"
        ),
        *make_rows("A08", "http://1.1.1.1:6379/", "http://1.1.1.1:99999/", "https://a:b@1.1.1.1/"),
        *make_rows(
            "A08-kind", "gopher://1.1.1.1/", "javascript:alert(1)", "data:text/html,x", "//1.1.1.1"
        ),
    ],
)
async def test_no_address_but_a_public_one_is_visited(url):
    with pytest.raises(ToolRefused):
        await fetch_page(ToolSettings()).ainvoke({"url": url})


@pytest.mark.parametrize(
    "expression",
    [
        *make_rows(
            "A10", "2/0", "5 % 0", "sqrt(-1)", "1e400", "...", "True+1", "1j", "min()", "inf - inf"
        ),
        *make_rows("A11", "1;2", "x:=3", "50%", "1,000+2", "3 4", "0b", "1__0"),
        *make_rows(
            "A11-names",
            "open('/etc/passwd')",
            "().__class__",
            "globals()",
            "f'{1}'",
            "[].append(1)",
        ),
    ],
)
def test_the_calculator_computes_or_refuses(expression):
    with pytest.raises(ToolRefused):
        calculate.invoke({"expression": expression})


@pytest.fixture
def base(tmp_path):
    """A SQLite file with one table."""
    path = tmp_path / "sales.db"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE sales (region TEXT, revenue REAL)")
        made.executemany("INSERT INTO sales VALUES (?, ?)", [("North", n) for n in range(300)])
    made.close()
    return path


@pytest.mark.parametrize(
    "sql",
    [
        *make_rows(
            "A12", "REPLACE INTO sales VALUES ('x', 1)", "ALTER TABLE sales ADD x", "ANALYZE"
        ),
        *make_rows(
            "A12-files", "VACUUM INTO '/tmp/copy.db'", "ATTACH '/etc/passwd' AS p", "DETACH main"
        ),
        *make_rows(
            "A12-pragma", "PRAGMA query_only = 0", "PRAGMA table_info(sales)", "SAVEPOINT s"
        ),
        *make_rows(
            "A13",
            "SELECT 1; SELECT 2",
            "SELECT * FROM sqlite_master",
            "SELECT * FROM pragma_table_list",
        ),
        *make_rows("A13-large", "SELECT zeroblob(2000000000)", "SELECT hex(randomblob(500000000))"),
        *make_rows("A15", "SELECT turnover FROM sales", "SELECT * FROM sale", "SELEC 1"),
    ],
)
async def test_a_database_gives_rows_or_a_refusal_and_stays_as_it_was(base, sql):
    before = hashlib.sha256(base.read_bytes()).digest(), sorted(os.listdir(base.parent))
    tool = query_database(ToolSettings(sql_url=str(base)))

    with pytest.raises(ToolRefused):
        await tool.ainvoke({"sql": sql, "materials": None})

    assert (hashlib.sha256(base.read_bytes()).digest(), sorted(os.listdir(base.parent))) == before


@pytest.mark.parametrize(
    "sql",
    make_rows(
        "A13-many",
        "SELECT * FROM sales a, sales b, sales c",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
    ),
)
async def test_a_result_without_end_is_cut_or_ended(base, sql):
    tool = query_database(ToolSettings(sql_url=str(base)))

    try:
        found = await tool.ainvoke({"sql": sql, "materials": None})
    except ToolRefused:
        return

    assert len(found["rows"]) <= 200 and "cut" in found


NAMES = make_rows(
    "A16",
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


@pytest.mark.parametrize(
    "title", [*NAMES, *make_rows("A22", ".", "..", "", "\u202e", "a/b/c", "CON")]
)
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
