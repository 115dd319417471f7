"""Read a patient's conditions, allergies, encounters and immunizations, from a FHIR bundle."""

from functools import partial
from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from .fhir.bundle import BundleName, Materials, Messages, report_on_record
from .fhir.history import Section, report_history

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def read_bundle(
    material: BundleName,
    sections: Annotated[
        list[Section], Field(description="What of the history to read; all if empty")
    ] = [],  # noqa: B006  # pydantic copies it
    materials: Materials = None,
    messages: Messages = None,
) -> dict[str, Any]:
    """Read patient, conditions, allergies, encounters and immunizations from a FHIR R4 bundle.

    Each claim names its resource, as `bundle.json#Condition/c1`: cite it so. Resources that are
    not valid, entered in error or without a stated patient are left out, and named in gaps. Other
    tools report laboratory values and medicines.
    Example: read_bundle(material="bundle.json", sections=["allergies"])
    """
    return await report_on_record(
        material, materials, messages, partial(report_history, sections=sections)
    )
