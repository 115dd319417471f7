"""Find dates of a FHIR bundle that cannot be right, or conflict."""

from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from .fhir.intervals import check_intervals
from .fhir.out_of_scope import answer_from_record

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def interval_check(
    material: str,
    question: str,
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Check the dates of a FHIR R4 bundle: ends before starts, before birth or after death.

    Also hospital stays that overlap, courses of one medicine that overlap, and what is still marked
    as active though its end has passed. Each finding names its resource. question is what is asked,
    in words; an escalation is returned for what no record answers.
    Example: interval_check(material="bundle.json", question="which dates conflict")
    """
    return await answer_from_record(question, material, materials, check_intervals)
