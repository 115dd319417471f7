"""List what a patient takes and took, from a FHIR bundle."""

from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from .fhir.medicines import list_medicines
from .fhir.out_of_scope import answer_from_record

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def medication_list(
    material: str,
    question: str,
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """List medicines by status, with dose text and dates, and those that are listed twice.

    Doses are quoted as the resource has them; nothing is computed or recommended. Cite a source as
    given, such as `bundle.json#MedicationRequest/m1`. question is what is asked, in words; an
    escalation is returned for what no record answers.
    Example: medication_list(material="bundle.json", question="what is taken now")
    """
    return await answer_from_record(question, material, materials, list_medicines)
