"""Any table that is written is read with all its rows and columns, whatever engine reads it."""

import csv
import io
import sqlite3
import tracemalloc
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from extensions.tools.sql import duckdb_reader, sqlite
from extensions.tools.sql.csv_files import MAX_FILE_BYTES, MAX_WHOLE_CHARS, SAMPLE_ROWS
from extensions.tools.sql.location import DatabaseLocation
from extensions.tools.sql.whole_table import read_whole_table
from nodes.text.csv_table import CsvUnreadable

letters = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp", "Cf"))
words = st.text(letters | st.sampled_from(' ,;\t|"\n'), max_size=8).map(str.strip)
numbers = st.sampled_from(
    ("1", "-20", "3.5", "007", "1.200", "3,20", "1e5", "2024-01-03", "", "n/a", "$5", "7 kg", "8%")
)
names = st.text(st.sampled_from('abcÄß _"\n'), min_size=1, max_size=8)


@st.composite
def draw_tables(draw: st.DrawFn) -> list[list[str]]:
    """Draw a header and rows; no row is empty, since an empty one says nothing."""
    header = draw(st.lists(names.map(str.strip).filter(bool), min_size=2, max_size=5, unique=True))
    row = st.lists(words | numbers, min_size=len(header), max_size=len(header)).filter(any)
    return [header, *draw(st.lists(row, max_size=12))]


def write_table(rows: list[list[str]], delimiter: str, end: str) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(rows)
    return text.getvalue()


def count_rows(path: Path, text: str) -> list[int]:
    """Return how many rows each engine has of a text, or of a file with it."""
    path.write_text(text, encoding="utf-8", newline="")
    counted = []
    for location, materials in (
        (DatabaseLocation("none"), {"t.csv": text}),
        (DatabaseLocation("files", str(path)), {}),
    ):
        with duckdb_reader.connect(location, materials, "SELECT * FROM t") as (base, loaded):
            assert loaded.broken == {}
            counted.append(base.execute("SELECT count(*) FROM t").fetchall()[0][0])
    return counted


@given(draw_tables(), st.sampled_from(",;\t|"), st.sampled_from(("\n", "\r\n")))
def test_a_written_table_is_read_with_all_its_cells(table, delimiter, end):
    header, *rows = table
    read = read_whole_table(write_table(table, delimiter, end))

    assert len(read.columns) == len(header)
    assert [len(row) for row in read.rows] == [len(header)] * len(rows)
    names = [n for n, number in enumerate(read.numbers) if number is None]
    for n in names:
        assert [row[n] for row in read.rows] == [row[n] for row in rows]


def count_in_sqlite(text: str, folder: Path) -> int:
    sqlite3.connect(folder / "empty.db").close()
    location = DatabaseLocation("sqlite", str(folder / "empty.db"))
    with sqlite.connect(location, {"t.csv": text}, "") as (base, loaded):
        assert loaded.broken == {}
        return int(base.execute("SELECT count(*) FROM t").fetchall()[0][0])


@pytest.mark.slow
@given(draw_tables(), st.sampled_from(",;\t|"), st.sampled_from(("\n", "\r\n")))
@example([["_", "__"], ["", "1"], ["", "n/a"]], ",", "\n")
def test_every_engine_has_all_rows_of_a_written_table(tmp_path_factory, table, delimiter, end):
    text = write_table(table, delimiter, end)
    folder = tmp_path_factory.mktemp("tables")

    assert count_rows(folder / "t.csv", text) == [len(table) - 1] * 2
    assert count_in_sqlite(text, folder) == len(table) - 1


def load(engine: str, text: str | bytes, folder: Path, sql: str) -> list[tuple[object, ...]]:
    """Return the rows of a statement on a material, in either engine, or on a file."""
    if engine == "sqlite":
        sqlite3.connect(folder / "empty.db").close()
        place = DatabaseLocation("sqlite", str(folder / "empty.db"))
        with sqlite.connect(place, {"t.csv": str(text)}, "") as (base, loaded):
            assert not loaded.broken, loaded.broken
            found: list[tuple[object, ...]] = base.execute(sql).fetchall()
            return found
    is_file = engine != "material"
    location = DatabaseLocation("files" if is_file else "none", str(folder / "t.csv"))
    if is_file:
        raw = text if isinstance(text, bytes) else text.encode()
        above = b"# a comment\n" * (MAX_WHOLE_CHARS // 11 if engine == "large file" else 0)
        (folder / "t.csv").write_bytes(above + raw)
    materials = {} if is_file else {"t.csv": str(text)}
    with duckdb_reader.connect(location, materials, sql) as (duck, loaded):
        assert not loaded.broken, loaded.broken
        return duck.execute(sql).fetchall()


LARGE_FILE = pytest.param("large file", marks=pytest.mark.slow)
ENGINES = pytest.mark.parametrize("engine", ["material", "file", LARGE_FILE, "sqlite"])


@ENGINES
@pytest.mark.parametrize(
    ("text", "total"),
    [
        ("city,cups\nA,1\nB,2\n", 3),
        ("\ufeffcity,cups\r\nA,1\r\n\r\nB,2\r\n", 3),
        ("city;cups;price\nA;1.200;3,20\nB;900;4,10\n", 2100),
        ("city;cups\nA;1.200,5\nB;0,5\n", 1201),
        ("city;cups;price\nA;1.200;3.20\nB;2;4.10\n", 3.2),
        ("city;cups\nA;1.200.000\nB;1\n", 1_200_001),
        ('city,cups\nA,"1,200"\nB,"1,000,000"\n', 1_001_200),
        ("city\tcups\nA\t1\nB\t2\n", 3),
        ("sep=;\ncity;cups\nA;1\nB;2\n", 3),
        ("city,cups,,\nA,1,,\nB,2,,\n,,,\n", 3),
        ("# made up\n\ncity,cups\nA,1\nB,2\n", 3),
        ('city, cups\n"A, B", 1\n"C\nD", 2\n', 3),
        ("cups\n1\n2\n", 3),
        ("city,cups\nA\nB,3\n", 3),
        ("cups,cups\n3,4\n", 3),
    ],
)
def test_every_engine_reads_the_same_numbers(engine, text, total, tmp_path):
    assert load(engine, text, tmp_path, "SELECT sum(cups) FROM t")[0][0] == total


@ENGINES
def test_digits_that_are_a_code_keep_their_zeros(engine, tmp_path):
    found = load(engine, "zip,n\n01067,1\n80331,2\n", tmp_path, "SELECT zip FROM t")

    assert found == [("01067",), ("80331",)]


ROWS = SAMPLE_ROWS + 500
ENCODINGS = pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig"])


@ENCODINGS
def test_a_file_in_another_encoding_is_read(encoding, tmp_path):
    raw = "city,cups\nGräz,1\n".encode(encoding)

    assert load("file", raw, tmp_path, "SELECT city, cups FROM t") == [("Gräz", 1)]


def write_large_file(encoding: str, rows: int) -> bytes:
    lines = "".join(f"{'x' * 400} {n};1\n" for n in range(rows))
    return f"city;cups\n{lines}Gräz;1,5\n".encode(encoding)


@ENCODINGS
def test_a_large_file_in_another_encoding_is_read(encoding, tmp_path):
    raw = write_large_file(encoding, 4 * MAX_WHOLE_CHARS // 400)

    read = "SELECT sum(cups), max(city) FILTER (cups > 1) FROM t"
    assert load("file", raw, tmp_path, read) == [(10_001.5, "Gräz")]


@pytest.mark.slow
@ENCODINGS
def test_a_large_file_in_another_encoding_is_read_in_less_memory_than_it_has(encoding, tmp_path):
    raw = write_large_file(encoding, 50_000)
    tracemalloc.start()
    try:
        found = load("file", raw, tmp_path, "SELECT max(city) < 'y', sum(cups) FROM t")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert found == [(True, 50_001.5)]
    assert most < len(raw)


def test_a_file_beyond_the_limit_is_refused_unread_and_others_are_read(tmp_path):
    with (tmp_path / "big.csv").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")

    location = DatabaseLocation("files", str(tmp_path))
    with duckdb_reader.connect(location, {}, "SELECT * FROM big, t") as (base, loaded):
        assert str(loaded.broken["big"]) == "big.csv has more than 500 MB; save it as Parquet"
        assert base.execute("SELECT a FROM t").fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("engine", "late"),
    [
        ("material", "x;1.200\ny;2.500,5\n"),
        ("file", "x;1200\ny;2500.5\nz;n/a\n"),
        pytest.param("large file", "x;1.200\ny;2.500,5\n", marks=pytest.mark.slow),
        *(("sqlite", late) for late in ("x;1.200\ny;2.500,5\n", "x;1200\ny;2500.5\nz;n/a\n")),
    ],
)
def test_a_late_cell_that_is_written_otherwise_changes_how_a_column_is_read(engine, late, tmp_path):
    rows = "".join(f"c{n};{n % 900}\n" for n in range(ROWS))

    total = load(engine, f"city;cups\n{rows}{late}", tmp_path, "SELECT sum(cups) FROM t")[0][0]

    assert total == sum(n % 900 for n in range(ROWS)) + 3700.5


@given(
    st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=3, max_size=12),
    st.sampled_from(("{}", "${}", "{} €", "EUR {}", "{}%", "{} kg")),
    st.lists(st.sampled_from(("n/a", "", "-", "#DIV/0!", "closed", "see note")), max_size=2),
)
def test_amounts_keep_their_values_and_each_cell_without_one_is_named(amounts, written, others):
    cells = [written.format(f"{amount:,.2f}") for amount in amounts] + others
    rows = [["shop", "sales"], *([f"s{n}", cell] for n, cell in enumerate(cells))]

    read = read_whole_table(write_table(rows, ";", "\n"))

    kept = [row[1] for row in read.rows]
    assert [Decimal(cell) for cell in kept[: len(amounts)]] == amounts
    named = [note.text for note in read.notes if "no number in" in note.text]
    assert len(named) == bool(others)
    lines = range(len(amounts) + 2, len(cells) + 2)
    assert all(f"line {line}" in text for text in named for line in lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n1,2,3\n", "line 3 has 3 cells under 2 column names"),
        (
            "a,b\n" + "1,2,3\n" * 9,
            "lines 2, 3, 4, 5, 6 and 4 more have 3 cells under 2 column names",
        ),
        ('a,b\n1,"2\n', "line 2 cannot be read"),
        ("\n\n", "is empty"),
        ("A title\n\na,b\n1,2\n", "lines 3, 4 have 2 cells under 1 column name"),
    ],
)
def test_rows_that_do_not_fit_are_named_and_none_is_left_out(text, message):
    with pytest.raises(CsvUnreadable, match=message):
        read_whole_table(text)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("a;b\n1.200;x\n", "a may have decimal points or decimal commas"),
        ("a,b\n1,2\n3\n4\n", "lines 3, 4 have fewer cells than there are columns"),
        ("Graz,12\nLinz,3\n", "its first line was read as the names of the columns: Graz, 12"),
        ("city,2023,2024\nGraz,1,2\n", ""),
        ("a;b\n1.200;3,5\n", ""),
        ("a,b\n1.234,x\n987,y\n", "it was read with decimal points, 1.200 as 1.2"),
        ("a,b\n1.234,x\n2.5,y\n", ""),
        ("a,b\n1.234,0.5\n2.500,1\n", ""),
        ("a,b\n987,x\n12,y\n", ""),
    ],
)
def test_what_was_assumed_is_noted(text, note):
    notes = " ".join(note.text for note in read_whole_table(text).notes)

    assert note in notes and bool(note) == bool(notes)


def test_a_row_too_long_in_a_users_file_is_named_wherever_it_is(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 30_000 + "1,2,3\n")

    with duckdb_reader.connect(
        DatabaseLocation("files", str(tmp_path / "t.csv")), {}, "SELECT * FROM t"
    ) as (_, loaded):
        assert "line 30002 has 3 cells under 2 column names" in str(loaded.broken["t"])
