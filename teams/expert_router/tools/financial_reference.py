"""Search reference entries on finance and tax, and the user's own documents."""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from nodes.tools.documents.library import get_library
from nodes.tools.framework.settings import ToolSettings

from .references.lookup import look_up_references

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def financial_reference(settings: ToolSettings) -> BaseTool:
    """Build the search; its user documents are the run's materials and `settings.documents`."""
    library = get_library(settings.documents)

    @tool("financial_reference")
    async def search(
        question: str,
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Find the entries of the financial references that answer a question, with their sources.

        question is what is asked, in the user's own words, with the country where one is named.
        Quote entries word for word and cite `source` exactly as given. An escalation is returned
        for an emergency, for advice on the user's own money or tax return, and for what no entry
        answers; `topics` then lists what is available, in case other words find it.
        Example: financial_reference(question="deposit insurance at a bank in the EU")
        """
        return await look_up_references("financial", question, materials, library)

    return search
