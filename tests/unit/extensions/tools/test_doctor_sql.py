"""What `supervise doctor` says of the file that `SUPERVISE_SQL_URL` names."""

from pathlib import Path

import pytest

from extensions.tools.doctor import check_sql_database

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("files", "level", "text"),
    [
        ({"a.csv": "item,price\ntea,3\n"}, "ok", ""),
        ({"a.xlsx": "no workbook"}, "broken", "a.xlsx cannot be read: not a readable spreadsheet"),
        ({"a.xlsx": "no workbook", "b.csv": "item\ntea\n"}, "note", "a.xlsx cannot be read"),
        ({"a.md": "Tea."}, "broken", "has no table"),
    ],
)
def test_a_database_without_a_readable_table_is_named(
    tmp_path: Path, files: dict[str, str], level: str, text: str
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content)

    check = check_sql_database(str(tmp_path))

    assert check.level == level and text in check.text
