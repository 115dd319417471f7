"""Sheets of spreadsheets are tables, as CSV files are."""

import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.tools.analyze_table import analyze_table
from extensions.tools.documents.parser import parse_document
from extensions.tools.documents.workbook import MAX_NAME_CHARS, parse_workbook
from extensions.tools.query_database import query_database
from extensions.tools.search_documents import search_documents
from graph.runs.materials import read_materials
from nodes.errors import FileUnreadable, ToolRefused
from nodes.tools.framework.documents import is_cut, read_document
from nodes.tools.framework.settings import ToolSettings
from tests.unit.tools.workbook_samples import (
    ERROR,
    FORMULA,
    FORMULA_WITHOUT_VALUE,
    MONEY,
    OUTSIDE,
    PERCENT,
    Rows,
    write_ods,
    write_xlsx,
)

SALES: Rows = [["region", "amount"], ["North", 42], ["South", 8]]


def read_sheet(path: Path, max_chars: int = 10_000) -> str:
    """Return the text of the only sheet."""
    (text,) = parse_workbook(path.read_bytes(), max_chars).values()
    return text


async def query(sql: str, sql_url: str | None = None, **materials: str) -> dict[str, Any]:
    found = query_database(ToolSettings(sql_url=sql_url))
    return dict(await found.ainvoke({"sql": sql, "materials": materials}))


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        (date(2025, 1, 2), "2025-01-02"),
        ('<c r="{r}" s="1"><v>45659.5</v></c>', "2025-01-02 12:00:00"),
        (0.1 + 0.2, "0.3"),
        (1200.0, "1200"),
        (0.0000001, "0.0000001"),
        (True, "true"),
        (PERCENT, "0.12"),
        (MONEY, "1200.5"),
        (FORMULA, "84"),
        (OUTSIDE, "7"),
        (ERROR, '"#DIV/0!"'),
        (FORMULA_WITHOUT_VALUE, '"#NO VALUE"'),
        ('a "b", c', '"a ""b"", c"'),
        ("two\nlines", "two lines"),
        ("0043", "0043"),
        (None, ""),
    ],
)
def test_a_cell_is_read_as_a_table_has_it(tmp_path, cell, written):
    path = write_xlsx(tmp_path / "a.xlsx", {"Data": [["name", "it"], ["x", cell]]})

    assert read_sheet(path) == f"name,it\nx,{written}\n"


def test_an_opendocument_spreadsheet_is_read_with_its_errors(tmp_path):
    cells = (
        '<table:table-cell office:value-type="percentage" office:value="0.12"/>',
        '<table:table-cell office:value-type="date" office:date-value="2025-01-02"/>',
        '<table:table-cell office:value-type="time" office:time-value="PT30H05M00S"/>',
        '<table:table-cell table:formula="of:=1/0" office:value-type="string" '
        'office:string-value="" calcext:value-type="error"><text:p>#DIV/0!</text:p>'
        "</table:table-cell>",
        '<table:table-cell table:formula="of:=A1"/>',
    )
    names = "".join(
        f'<table:table-cell office:value-type="string"><text:p>{name}</text:p></table:table-cell>'
        for name in "abcde"
    )
    rows = f"<table:table-row>{names}</table:table-row><table:table-row>{''.join(cells)}"
    path = write_ods(tmp_path / "a.ods", f"{rows}</table:table-row>")

    assert read_sheet(path).splitlines() == [
        "a,b,c,d,e",
        '0.12,2025-01-02,30:05:00,"#DIV/0!","#NO VALUE"',
    ]


def test_each_line_is_a_row_of_the_sheet_and_what_is_above_the_names_is_a_comment(tmp_path):
    rows: Rows = [
        ["Sales 2025"],
        [],
        [None, "region", "amount", None],
        [],
        [None, "North", 42, "old"],
    ]
    path = write_xlsx(tmp_path / "a.xlsx", {"Data": rows})

    assert read_sheet(path).splitlines() == [
        *("# Sales 2025", "", "column1,region,amount,column4", "", ",North,42,old"),
    ]


def test_a_merged_text_holds_for_each_of_its_rows_and_a_merged_number_once(tmp_path):
    rows: Rows = [["region", "amount"], ["North", 42], [None, 8], ["South", 1], ["South", None]]
    path = write_xlsx(tmp_path / "a.xlsx", {"Data": rows}, merged=["A2:A3", "B4:B5"])

    assert read_sheet(path).splitlines()[1:] == ["North,42", "North,8", "South,1", "South,"]


@pytest.mark.slow
async def test_each_sheet_is_a_material_and_a_hidden_one_says_so(tmp_path):
    sheets = {"Sales": SALES, "Staff": SALES, "Lists": SALES, "Empty": []}
    write_xlsx(tmp_path / "book.xlsx", sheets, hidden=["Lists"])
    write_xlsx(tmp_path / "one.xlsx", {"Sales": SALES, "Lists": SALES}, hidden=["Lists"])
    (tmp_path / "~$one.xlsx").write_bytes(b"\x04user")  # beside a workbook that is open

    materials = await read_materials([tmp_path])

    assert list(materials) == [
        *("book.xlsx#Sales", "book.xlsx#Staff", "book.xlsx#Lists (hidden)"),
        *("one.xlsx", "one.xlsx#Lists (hidden)"),
    ]


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=6),
            st.floats(-1e12, 1e12) | st.integers(-(10**12), 10**12),
        ),
        max_size=8,
    )
)
def test_a_sheet_has_all_rows_and_its_own_figures(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("books") / "a.xlsx"
    write_xlsx(path, {"Data": [["name", "figure"], *([f"x{name}", n] for name, n in rows)]})

    lines = read_sheet(path).splitlines()[1:]

    figures = [float(line.rsplit(",", 1)[1]) for line in lines]
    assert figures == [pytest.approx(float(n), rel=1e-14) for _, n in rows]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["book.xlsx", "."])
async def test_a_workbook_or_a_folder_of_them_is_a_database(tmp_path, name):
    write_xlsx(tmp_path / "book.xlsx", {"Sales": SALES, "Staff 2": SALES})

    listed = await query("SHOW TABLES", str(tmp_path / name))
    total = await query("SELECT sum(amount) FROM book_staff_2", str(tmp_path / name))

    assert [(each["table"], each["source"]) for each in listed["tables"]] == [
        ("book_sales", "book.xlsx#Sales"),
        ("book_staff_2", "book.xlsx#Staff 2"),
    ]
    assert total["rows"] == [[50]] and total["results"][0]["source"] == "book.xlsx#Staff 2"


@pytest.mark.slow
async def test_a_cell_with_an_error_is_left_out_of_a_sum_and_named_with_its_row(tmp_path):
    rows: Rows = [["Title"], [], *SALES, ["West", ERROR], ["East", FORMULA_WITHOUT_VALUE]]
    write_xlsx(tmp_path / "book.xlsx", {"Sales": rows})
    materials = await read_materials([tmp_path / "book.xlsx"])

    found = await analyze_table(ToolSettings()).ainvoke(
        {"measures": ["amount"], "aggregate": "sum", "materials": materials}
    )

    assert found["rows"] == [[50]]
    assert found["gaps"] == [
        "book.xlsx: amount: no number in 2 of 4 cells (not in any figure): "
        "line 6 '#DIV/0!', line 7 '#NO VALUE'"
    ]


@pytest.mark.slow
async def test_a_folder_of_documents_is_searched_in_its_sheets(tmp_path):
    write_xlsx(tmp_path / "book.xlsx", {"Sales": SALES, "Notes": [["note"], ["the zebra left"]]})

    found = await search_documents(ToolSettings(documents=tmp_path)).ainvoke({"query": "zebra"})

    assert [hit["source"] for hit in found["results"]] == ["book.xlsx#Notes"]


def write_bomb(path: Path) -> None:
    write_xlsx(path, {"Data": SALES}, parts={"xl/media/a.bin": b"0" * 250_000_000})


def write_far_cell(path: Path) -> None:
    write_xlsx(path, {"Data": SALES})
    with zipfile.ZipFile(path) as sound:
        parts = {name: sound.read(name) for name in sound.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b"<sheetData>", b'<dimension ref="A1:XFD99"/><sheetData>')
    parts[sheet] = parts[sheet].replace(b"XFD99", b"XFD1048576")
    with zipfile.ZipFile(path, "w") as package:
        for name, content in parts.items():
            package.writestr(name, content)


def write_damaged(path: Path) -> None:
    whole = bytearray(write_xlsx(path, {"Data": [["n"], *([n] for n in range(900))]}).read_bytes())
    place = whole.index(b"xl/worksheets/sheet1.xml") + 100
    whole[place : place + 200] = bytes(200)
    path.write_bytes(whole)


HOSTILE = {
    "password": (
        lambda path: path.write_bytes(
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")
        ),
        "it is protected with a password",
    ),
    "no workbook": (
        lambda path: path.write_text("region,amount\n"),
        "not a readable spreadsheet",
    ),
    "a damaged part": (write_damaged, "not a readable spreadsheet"),
    "a damaged one": (
        lambda path: path.write_bytes(b"PK\x03\x04 no more"),
        "not a readable spreadsheet",
    ),
    "another package": (
        lambda path: zipfile.ZipFile(path, "w").writestr("a.txt", "a"),
        "not a readable spreadsheet",
    ),
    "a bomb": (write_bomb, "it unpacks to more than 200 MB"),
    "a cell far away": (write_far_cell, "reaches to the cell XFD1048576"),
    "too many sheets": (
        lambda path: write_xlsx(path, {f"S{n}": SALES for n in range(101)}),
        "it has 101 sheets, of at most 100",
    ),
    "nothing in it": (lambda path: write_xlsx(path, {"Data": []}), "no text in it"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", HOSTILE)
def test_a_spreadsheet_that_cannot_be_read_says_why_in_a_line(tmp_path, what):
    write, reason = HOSTILE[what]
    write(tmp_path / "a.xlsx")

    with pytest.raises(FileUnreadable, match=reason) as refused:
        read_document(tmp_path / "a.xlsx")

    assert "\n" not in str(refused.value)


def test_a_protected_opendocument_spreadsheet_says_so(tmp_path):
    sealed = '<manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/>'
    path = write_ods(tmp_path / "a.ods", "", manifest=f"{sealed}</manifest:file-entry>")

    with pytest.raises(ToolRefused, match="protected with a password"):
        parse_document(".ods", 1000, path=str(path))


def test_macros_and_links_to_other_files_are_neither_run_nor_followed(tmp_path):
    link = b'<externalLink><externalBook r:id="rId1"/></externalLink>'
    parts = {"xl/vbaProject.bin": b"Sub Auto_Open", "xl/externalLinks/externalLink1.xml": link}
    path = write_xlsx(tmp_path / "a.xlsm", {"Data": [["price"], [OUTSIDE]]}, parts=parts)

    assert read_sheet(path) == "price\n7\n"


async def test_many_rows_are_cut_at_a_row_and_no_figure_is_computed_on_them(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", {"Data": [["n", "m"], *([n, n] for n in range(5000))]})

    text = read_sheet(path, max_chars=1000)

    assert is_cut(text) and len(text) < 1100
    with pytest.raises(ToolRefused, match=r"only the first 2 MB of a\.xlsx were read"):
        await query("SELECT sum(m) FROM a", **{"a.xlsx": text})


def test_a_long_name_of_a_sheet_is_cut(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", {"x" * 5000: SALES, "x" * 5000 + "y": SALES})

    names = [*parse_workbook(path.read_bytes(), 10_000)]

    assert names == ["#" + "x" * MAX_NAME_CHARS, "#" + "x" * MAX_NAME_CHARS + " (2)"]
