"""The style lens of a code review."""

from langchain_core.tools import BaseTool

from nodes.tools.framework.settings import ToolSettings

from .review.lens_tool import build_lens_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def check_style(settings: ToolSettings) -> BaseTool:
    """Check what a diff adds against the guidelines among the materials, and common style.

    Guidelines are prose (GUIDELINES.md) or ruff's settings (pyproject.toml).
    Example: check_style(diff="change.diff")
    """
    return build_lens_tool(check_style, "style", settings)
