"""Answer from the product's help documents."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState
from pydantic import Field

from extensions.tools.documents.library import describe_unread, get_library
from extensions.tools.logs.reader import is_log
from nodes.errors import NothingToRead, ToolFailed
from nodes.tools.framework.argument_types import Format
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.framework.tool_report import escalate_out_of_scope

from .support.help_search import build_report, list_log_errors

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_QUERY_CHARS = 2000
NO_DOCUMENTS = (
    "there are no help documents. Give them with --file or SUPERVISE_DOCUMENTS: without them, only "
    "a language model or a human can explain it"
)


def search_help(settings: ToolSettings) -> BaseTool:
    """Build the search over help documents: the files of the run, and `settings.documents`."""
    library = get_library(settings.documents)

    @tool("search_help")
    async def search(
        query: Annotated[
            str,
            Format("query"),
            Field(
                description="The words that a page on it would contain",
                max_length=MAX_QUERY_CHARS,
            ),
        ],
        with_log_errors: Annotated[
            bool,
            Field(
                description="Whether the question is about the errors of the logs among the files, "
                "which are then looked up too"
            ),
        ] = False,
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Find what the help documents say: passages with their page and heading.

        Logs are not searched, but the errors in them can be looked up. Where no passage is on the
        question, the answer is an escalation.
        Example: search_help(query="size of the connection pool")
        """
        held = materials or {}
        index, skipped, read = await library.get_index(await asyncio.to_thread(_select_pages, held))
        unread = describe_unread(skipped)
        if not read and unread:
            raise ToolFailed(f"no help document could be read: {unread}")
        if not read:
            raise NothingToRead(NO_DOCUMENTS)
        errors = await asyncio.to_thread(list_log_errors, held, query, is_asked=with_log_errors)
        report = await asyncio.to_thread(build_report, index, query, errors)
        if not report.claims:
            return escalate_out_of_scope("; ".join(report.gaps))
        report.gaps += [f"Not read: {unread}"] * bool(unread)
        return report.to_json()

    return search


def _select_pages(held: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in held.items() if not is_log(name, text)}
