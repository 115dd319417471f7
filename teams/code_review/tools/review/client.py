"""Request a review by one lens from a child process."""

import asyncio
from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import Any

from nodes.errors import ToolFailed
from nodes.tools.framework.isolation import run_isolated
from nodes.tools.framework.materials import get_material_text
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.linting.rules import Lens

from .diff_materials import is_diff, sort_materials
from .lens_report import build_escalation

CHILD_FUNCTION = f"{__package__}.child_program:review_diffs"
MAX_WRITTEN_BYTES = 20_000_000
TIMEOUT_S = 100.0
HOW_TO_MAKE_A_DIFF = "make one with `git diff > change.diff` and give it with --file change.diff"
NO_REPOSITORY_REPORT: Mapping[str, Any] = {
    "summary": "Not looked at.",
    "findings": [],
    "gaps": ["The history was not looked at: no repository is set (SUPERVISE_REPOSITORY)"],
}
"""Gap of the history lens without a repository."""


async def run_review(
    lens: Lens,
    diff: str,
    materials: Mapping[str, str] | None,
    settings: ToolSettings,
    *,
    timeout_s: float = TIMEOUT_S,
) -> dict[str, Any]:
    """Review the diff of a name, or all diffs among the materials.

    Raises:
        ToolFailed: the review cannot be finished: not reviewed is not the same as clean.
        ToolRefused: there is no material with that name.
    """
    held = dict(materials or {})
    if diff:
        text = get_material_text(diff, held)
        diff = next(name for name in held if held[name] is text)
    if nothing := _reject_without_diff(held, diff):
        return nothing
    if lens == "history" and settings.repository is None:
        return dict(NO_REPOSITORY_REPORT)
    folder = await asyncio.to_thread(TemporaryDirectory, prefix="supervise-review-")
    try:
        request = {
            "lens": lens,
            "materials": held,
            "diff": diff,
            "repository": str(settings.repository or ""),
            "folder": folder.name,
        }
        report: dict[str, Any] = await run_isolated(
            CHILD_FUNCTION,
            timeout_s=timeout_s,
            max_written_bytes=MAX_WRITTEN_BYTES,
            request=request,
        )
        return report
    except ToolFailed as failure:
        message = f"the {lens} lens {failure}; give a smaller diff"
        raise ToolFailed(message) from failure
    finally:
        await asyncio.to_thread(folder.cleanup)


def _reject_without_diff(materials: Mapping[str, str], diff: str) -> dict[str, Any]:
    """Return an escalation if there is nothing to review; empty if there is."""
    diffs = sort_materials(materials, diff).diffs
    if not diffs:
        given = f"none of {', '.join(materials)} is one" if materials else "none was given"
        return build_escalation(
            "out_of_scope", f"only diffs are reviewed, and {given}; {HOW_TO_MAKE_A_DIFF}"
        )
    if not any(map(is_diff, diffs.values())):
        return build_escalation(
            "ambiguous_input", f"{', '.join(diffs)} holds no unified diff; {HOW_TO_MAKE_A_DIFF}"
        )
    return {}
