"""Report laboratory values and vital signs over time, from a FHIR bundle."""

from functools import partial
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from .fhir.out_of_scope import answer_from_record
from .fhir.trends import describe_trends

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def lab_trends(
    material: str,
    question: str,
    codes: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Follow measured values by LOINC code over time: first, last, direction, flags.

    A value is compared with the reference range and interpretation of its own resource only; values
    in different units are not compared. codes limits it to some LOINC codes. Cite a source as
    given, such as `bundle.json#Observation/hba1c-2`. question is what is asked, in words; an
    escalation is returned for what no record answers.
    Example: lab_trends(material="bundle.json", question="how did HbA1c go", codes="4548-4")
    """
    return await answer_from_record(
        question, material, materials, partial(describe_trends, codes=codes)
    )
