"""Answers out of the product's help documents."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from nodes.tools.documents.library import library_of
from nodes.tools.settings import ToolSettings
from nodes.tools.support.help import searched
from nodes.tools.support.matters import aside, handed_over


def search_help(settings: ToolSettings) -> BaseTool:
    """Build the search over help documents: the files of the run, and `settings.documents`."""
    library = library_of(settings.documents)

    @tool("search_help")
    async def search(
        request: str,
        query: str = "",
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Find what the help documents say on a request, and on the errors of its logs.

        Gives passages with the page and heading they stand under. request is the task as it stands;
        query adds words that its answer may be found by. Logs are not searched, but what they
        report is looked up. An escalation in the answer says that the request is for somebody
        else: hand it back with these words.
        Example: search_help(request="how do I raise the number of connections?", query="pool size")
        """
        if elsewhere := await asyncio.to_thread(_elsewhere, request, materials):
            return elsewhere
        return await searched(library, request, query, materials)

    return search


def _elsewhere(request: str, materials: Mapping[str, str] | None) -> dict[str, Any] | None:
    return aside(request, materials) or handed_over(request)
