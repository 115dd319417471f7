"""List what a patient takes and took, from a FHIR bundle."""

from functools import partial
from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from .fhir.bundle import BundleName, Materials, Messages, report_on_record
from .fhir.medicines import MedicationStatus, report_medicines

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def medication_list(
    material: BundleName,
    status: Annotated[
        list[MedicationStatus], Field(description="Statuses to list; all if empty")
    ] = [],  # noqa: B006  # pydantic copies it
    materials: Materials = None,
    messages: Messages = None,
) -> dict[str, Any]:
    """List medicines by status, with dose text and dates, and those that are listed twice.

    Doses are quoted as the resource has them; nothing is computed or recommended. Cite a source as
    given, such as `bundle.json#MedicationRequest/m1`.
    Example: medication_list(material="bundle.json", status=["active", "on-hold"])
    """
    return await report_on_record(
        material, materials, messages, partial(report_medicines, statuses=status)
    )
