"""Search reference entries on technology, and the user's own documents."""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from nodes.tools.documents.library import get_library
from nodes.tools.framework.settings import ToolSettings

from .references.lookup import look_up_references

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def technical_reference(settings: ToolSettings) -> BaseTool:
    """Build the search; its user documents are the run's materials and `settings.documents`."""
    library = get_library(settings.documents)

    @tool("technical_reference")
    async def search(
        question: str,
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Find the entries of the technical references that answer a question, with their sources.

        question is what is asked, in the user's own words, with the country where one is named.
        Quote entries word for word and cite `source` exactly as given. An escalation is returned
        for an emergency, for access to what the user does not own, and for what no entry answers;
        `topics` then lists what is available, in case other words find it.
        Example: technical_reference(question="difference between HTTP 401 and 403")
        """
        return await look_up_references("technical", question, materials, library)

    return search
