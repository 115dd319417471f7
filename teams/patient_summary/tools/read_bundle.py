"""Read a patient's conditions, allergies, encounters and immunizations, from a FHIR bundle."""

from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from .fhir.out_of_scope import answer_from_record
from .fhir.record_summary import summarize_record

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def read_bundle(
    material: str,
    question: str,
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Read patient, conditions, allergies, encounters and immunizations from a FHIR R4 bundle.

    Each statement names its resource, as `bundle.json#Condition/c1`: cite it so. Resources that are
    not valid, entered in error or without a stated patient are left out, and named in gaps. Other
    tools report laboratory values and medicines. question is what is asked, in words; an escalation
    is returned for what no record answers.
    Example: read_bundle(material="bundle.json", question="which allergies are recorded")
    """
    return await answer_from_record(question, material, materials, summarize_record)
