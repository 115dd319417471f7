"""Tools that every team may name: documents, tables, SQL, the web, sources, arithmetic."""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from graph.extensions import DoctorCheck, Extension

if TYPE_CHECKING:
    from graph.settings import Settings
    from nodes.schemas.team import Team
    from nodes.tools.framework.settings import ToolSettings


class _Tools(Extension):
    def register(self) -> None:
        """Share the tools, read documents that need a parser, and show passages of them."""
        from nodes.tools.framework.catalog import share_tools
        from nodes.tools.framework.documents import register_parser, register_passage_format

        share_tools(__name__, Path(__file__).parent)
        register_parser("extensions.tools.documents.parser:parse_document")
        register_passage_format("extensions.tools.documents.passage_markdown:format_passage")

    def describe_tables(self, team: "Team", settings: "ToolSettings") -> str:
        """Return the tables of the user's database, if a tool of the team reads them."""
        from extensions.tools.sql.client import describe_tables

        return describe_tables(team, settings)

    def write_word(self, markdown: str, title: str) -> bytes | None:
        """Return Markdown as a Word document; None without python-docx."""
        if find_spec("docx") is None:
            return None
        from extensions.tools.formats.docx import to_docx

        return to_docx(markdown, title)

    def list_checks(self, settings: "Settings") -> Iterable[DoctorCheck]:
        """Check what the tools read."""
        from extensions.tools.doctor import check_sources

        return check_sources(settings)

    def check_team(self, team: "Team", settings: "Settings", *, is_online: bool) -> Iterable[str]:
        """Refuse a database role that may do more than read, if the team would use it."""
        from extensions.tools.doctor import refuse_writing_role

        refuse_writing_role(team, settings)
        return ()


EXTENSION = _Tools()
