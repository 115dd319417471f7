"""Search reference entries on medicine, and the user's own documents."""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from nodes.tools.documents.library import get_library
from nodes.tools.framework.settings import ToolSettings

from .references.lookup import look_up_references

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def medical_reference(settings: ToolSettings) -> BaseTool:
    """Build the search; its user documents are the run's materials and `settings.documents`."""
    library = get_library(settings.documents)

    @tool("medical_reference")
    async def search(
        question: str,
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Find the entries of the medical references that answer a question, with their sources.

        question is what is asked, in the user's own words, with the country where one is named.
        Quote entries word for word and cite `source` exactly as given. An escalation is returned
        for an emergency, for a prescription, a diagnosis or a decision on one patient, and for what
        no entry answers; `topics` then lists what is available, in case other words find it.
        Example: medical_reference(question="signs of a stroke")
        """
        return await look_up_references("medical", question, materials, library)

    return search
