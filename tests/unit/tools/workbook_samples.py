"""Small real spreadsheets, every part by hand, for the tests that read them."""

import zipfile
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from xml.sax.saxutils import escape

Cell = str | float | bool | date | None
"""A text that begins with `<` is the XML of a cell, with `{r}` for its place."""
Rows = Sequence[Sequence[Cell]]

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"

ERROR = '<c r="{r}" t="e"><f>1/0</f><v>#DIV/0!</v></c>'
FORMULA = '<c r="{r}"><f>A2*2</f><v>84</v></c>'
FORMULA_WITHOUT_VALUE = '<c r="{r}" s="0"><f>A2*2</f><v/></c>'
OUTSIDE = '<c r="{r}"><f>[1]Prices!$B$2</f><v>7</v></c>'
PERCENT = '<c r="{r}" s="2"><v>0.12</v></c>'
MONEY = '<c r="{r}" s="3"><v>1200.5</v></c>'


def write_xlsx(
    path: Path,
    sheets: Mapping[str, Rows],
    *,
    hidden: Sequence[str] = (),
    merged: Sequence[str] = (),
    parts: Mapping[str, bytes] | None = None,
) -> Path:
    """Write a workbook.

    Args:
        merged: ranges of each sheet, such as `A2:A3`.
        parts: further files of the package.
    """
    listed, relations = "", f'<Relationship Id="s" Type="{_OFFICE}/styles" Target="styles.xml"/>'
    files = {"xl/styles.xml": _STYLES, **(parts or {})}
    for n, (name, rows) in enumerate(sheets.items(), start=1):
        state = ' state="hidden"' if name in hidden else ""
        listed += f'<sheet name="{escape(name)}" sheetId="{n}"{state} r:id="r{n}"/>'
        target = f"worksheets/sheet{n}.xml"
        relations += f'<Relationship Id="r{n}" Type="{_OFFICE}/worksheet" Target="{target}"/>'
        files[f"xl/{target}"] = _write_sheet(rows, merged).encode()
    book = f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>'
    start = f'<Relationship Id="r" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", _CONTENT_TYPES)
        package.writestr("_rels/.rels", _relate(start))
        package.writestr("xl/workbook.xml", book)
        package.writestr("xl/_rels/workbook.xml.rels", _relate(relations))
        for name, content in files.items():
            package.writestr(name, content)
    return path


def write_ods(path: Path, rows: str, *, manifest: str = "") -> Path:
    """Write an OpenDocument spreadsheet of one sheet, from the XML of its rows."""
    spaces = " ".join(
        f'xmlns:{name}="{_ODF}:{name}:1.0"' for name in ("office", "table", "text", "style")
    )
    content = (
        f'<office:document-content {spaces} xmlns:calcext="urn:org:documentfoundation:names:'
        'experimental:calc:xmlns:calcext:1.0"><office:body><office:spreadsheet>'
        f'<table:table table:name="Data">{rows}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        package.writestr(
            "META-INF/manifest.xml",
            f'<manifest:manifest xmlns:manifest="{_ODF}:manifest:1.0">{manifest}'
            "</manifest:manifest>",
        )
        package.writestr("content.xml", content)
    return path


def _write_sheet(rows: Rows, merged: Sequence[str]) -> str:
    lines = "".join(
        f'<row r="{n}">{"".join(_write_cell(cell, column, n) for column, cell in enumerate(row))}'
        "</row>"
        for n, row in enumerate(rows, start=1)
    )
    ranges = "".join(f'<mergeCell ref="{each}"/>' for each in merged)
    joined = f"<mergeCells>{ranges}</mergeCells>" if merged else ""
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{lines}</sheetData>{joined}</worksheet>'


def _write_cell(cell: Cell, column: int, row: int) -> str:
    place = f"{chr(65 + column)}{row}"
    match cell:
        case None:
            return ""
        case str() if cell.startswith("<"):
            return cell.replace("{r}", place)
        case str():
            return f'<c r="{place}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
        case bool():
            return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
        case date():
            return f'<c r="{place}" s="1"><v>{(cell - date(1899, 12, 30)).days}</v></c>'
        case _:
            return f'<c r="{place}"><v>{cell!r}</v></c>'


def _relate(relations: str) -> str:
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{relations}</Relationships>'


_CONTENT_TYPES = (
    f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}"/></Types>'
)
_STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><numFmts count="1"><numFmt numFmtId="170" '
    'formatCode="&quot;$&quot;#,##0.00"/></numFmts><cellXfs count="4"><xf numFmtId="0"/>'
    '<xf numFmtId="14"/><xf numFmtId="9"/><xf numFmtId="170"/></cellXfs></styleSheet>'
).encode()
