"""Read a product's features from its page."""

import asyncio
from pathlib import PurePosixPath
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.errors import ToolRefused
from nodes.tools.framework.materials import get_material_text

from .features.extraction import extract_features

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_FEATURES = 60
CONFIDENCE = 90
"""The page states it; whether it is true is not checked."""


@tool
async def read_features(
    material: str, materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None
) -> dict[str, Any]:
    """Read the features that a product's page states, such as `SSO: yes` or a table of two columns.

    Returns each as a claim `Product — feature: value` with the words of the page as quote.
    Example: read_features(material="acme.md")
    """
    text = get_material_text(material, materials)
    found = await asyncio.to_thread(extract_features, text, PurePosixPath(material).stem)
    if not found:
        raise ToolRefused(f"{material} states no features as name and value; quote its sentences")
    shown = found[:MAX_FEATURES]
    cut = len(found) - len(shown)
    listed = "\n".join(f"- {each.name}: {each.value}" for each in shown)
    return {
        "summary": f"{shown[0].product} states {len(found)} features in {material}:\n{listed}",
        "claims": [
            {
                "text": each.claim,
                "source": material,
                "quote": each.quote,
                "confidence": CONFIDENCE,
            }
            for each in shown
        ],
        "gaps": [f"{cut} more features of {material} are left out"] if cut else [],
    }
