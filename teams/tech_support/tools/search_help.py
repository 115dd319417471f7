"""Answer from the product's help documents."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from nodes.tools.documents.library import get_library
from nodes.tools.framework.settings import ToolSettings

from .support.help_search import search_help_documents
from .support.human_decisions import escalate_human_decisions, reject_if_out_of_scope

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def search_help(settings: ToolSettings) -> BaseTool:
    """Build the search over help documents: the files of the run, and `settings.documents`."""
    library = get_library(settings.documents)

    @tool("search_help")
    async def search(
        request: str,
        query: str = "",
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Find what the help documents say about a request, and about the errors in its logs.

        Returns passages with their page and heading. request is the task unchanged; query adds
        words that may find its answer. Logs are not searched, but the errors in them are looked up.
        An escalation in the answer means that the request is out of scope: escalate with these
        words.
        Example: search_help(request="how do I raise the number of connections?", query="pool size")
        """
        if elsewhere := await asyncio.to_thread(_find_escalation, request, materials):
            return elsewhere
        return await search_help_documents(library, request, query, materials)

    return search


def _find_escalation(request: str, materials: Mapping[str, str] | None) -> dict[str, Any] | None:
    return reject_if_out_of_scope(request, materials) or escalate_human_decisions(request)
