"""Find dates of a FHIR bundle that cannot be right, or conflict."""

from datetime import date
from functools import partial
from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from .fhir.bundle import BundleName, Materials, Messages, report_on_record
from .fhir.intervals import report_intervals

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def interval_check(
    material: BundleName,
    on: Annotated[
        date | None,
        Field(
            description="Day on which an active entry must not have ended, YYYY-MM-DD; without it "
            "the newest date of the record"
        ),
    ] = None,
    materials: Materials = None,
    messages: Messages = None,
) -> dict[str, Any]:
    """Check the dates of a FHIR R4 bundle: ends before starts, before birth or after death.

    Also hospital stays that overlap, courses of one medicine that overlap, and what is still marked
    as active though its end has passed. Each finding names its resource.
    Example: interval_check(material="bundle.json", on="2025-12-31")
    """
    return await report_on_record(material, materials, messages, partial(report_intervals, on=on))
