"""Report laboratory values and vital signs over time, from a FHIR bundle."""

from datetime import date
from functools import partial
from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from .fhir.bundle import BundleName, Materials, Messages, report_on_record
from .fhir.trends import report_trends

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

LoincCode = Annotated[str, Field(pattern=r"^\d{1,7}-\d$", description="Such as 4548-4")]


@tool
async def lab_trends(
    material: BundleName,
    codes: Annotated[
        list[LoincCode], Field(description="LOINC codes to report; all if empty", max_length=50)
    ] = [],  # noqa: B006  # pydantic copies it
    since: Annotated[date | None, Field(description="First day of the values, YYYY-MM-DD")] = None,
    until: Annotated[date | None, Field(description="Last day of the values, YYYY-MM-DD")] = None,
    materials: Materials = None,
    messages: Messages = None,
) -> dict[str, Any]:
    """Follow measured values by LOINC code over time: first, last, direction, flags.

    A value is compared with the reference range and interpretation of its own resource only; values
    in different units are not compared. Cite a source as given, such as
    `bundle.json#Observation/hba1c-2`.
    Example: lab_trends(material="bundle.json", codes=["4548-4"], since="2024-01-01")
    """
    build_report = partial(report_trends, codes=codes, since=since, until=until)
    return await report_on_record(material, materials, messages, build_report)
