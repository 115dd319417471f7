"""Read a product's features from its page."""

from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from nodes.errors import ToolRefused
from nodes.tools.framework.argument_types import Format
from nodes.tools.framework.materials import Materials, get_material_text
from nodes.tools.framework.tool_report import ToolReport

from .features.extraction import extract_features

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
def read_features(
    material: Annotated[str, Format("file"), Field(description="Name of the product's page")],
    max_features: Annotated[
        int, Field(description="Most features to return, in the page's order", ge=1, le=200)
    ] = 60,
    materials: Materials = None,
) -> dict[str, Any]:
    """Read the features that a product's page states, each as `Product — feature: value`.

    Read are `SSO: yes` and tables of two columns below the page's title, and lists in sections on
    features; an item without a value has the value "stated". The page's words are the quote.
    """
    text = get_material_text(material, materials)
    found = extract_features(text, material)
    if not found:
        raise ToolRefused(f"{material} states no features as name and value; quote its sentences")
    report = ToolReport(lines=[f"{found[0].product} states {len(found)} features in {material}:"])
    for each in found[:max_features]:
        report.lines.append(f"- {each.name}: {each.value}")
        report.add_claim(each.claim, material, each.quotation)
    if (cut := len(found) - max_features) > 0:
        report.gaps.append(f"{cut} more features of {material} are left out")
    return report.to_json()
