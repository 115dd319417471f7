"""The kinds of files that can be read, by suffix."""

from typing import Final

WORKBOOK_SUFFIXES: Final = frozenset({".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"})
"""Spreadsheets, each sheet of which is a table."""
PARSED_SUFFIXES: Final = WORKBOOK_SUFFIXES | {".pdf", ".docx", ".html", ".htm", ".xhtml"}
"""Suffixes that need a parser, which runs in a process of its own."""
READABLE_SUFFIXES: Final = PARSED_SUFFIXES | {
    *(".md", ".markdown", ".txt", ".text", ".rst", ".adoc", ".asciidoc"),
    *(".csv", ".tsv", ".json", ".log", ".diff", ".patch"),
}
MATERIAL_SUFFIXES: Final = READABLE_SUFFIXES | {
    *(".jsonl", ".ndjson", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".properties", ".py"),
}
"""Files of a folder that become materials; document search excludes code and settings."""
UNLISTED_PREFIXES: Final = (".", "~$")
"""Hidden files, and those that an office program keeps beside an open one."""
DATABASE_SUFFIXES: Final = frozenset((".parquet", ".sqlite", ".sqlite3", ".db", ".duckdb"))
