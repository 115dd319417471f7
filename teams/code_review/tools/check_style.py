"""The style lens of a code review."""

from .review.lens_tool import define_lens_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

check_style = define_lens_tool(
    "check_style",
    "style",
    """Check what a diff adds against the guidelines among the materials, and common style.

Guidelines are prose (GUIDELINES.md) or ruff's settings (pyproject.toml).
Example: check_style(diff="change.diff")""",
)
