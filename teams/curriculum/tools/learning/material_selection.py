"""Choose the materials that a course tool reads, and reject what is out of scope."""

from collections.abc import Callable, Mapping
from typing import Any

from nodes.text.terms import extract_terms
from nodes.tools.framework.materials import resolve_material_name
from nodes.tools.framework.out_of_scope import escalate_out_of_scope, find_foreign_words

_TEACHING_TERMS = extract_terms("""
beginner bloom chapter class classroom concept course curriculum education exam grade homework
hours instruction learner learners learning lecture lesson lessons level levels master module
objective objectives order outcome outcomes prerequisite prerequisites pupil pupils readability
reading reads school semester sentence sequence skill student students study subject syllabus
taxonomy teach teacher teaching text texts textbook topic topics training tutorial unit units
verb verbs week weeks workshop
""")


def select_materials(
    name: str, materials: Mapping[str, str] | None, fits: Callable[[str, str], bool]
) -> dict[str, str]:
    """Return the material of a name; without a name, those that fit.

    Raises:
        ToolRefused: there is none with that name.
    """
    held = materials or {}
    if name:
        whole = resolve_material_name(name, held)
        return {whole: held[whole]}
    return {each: text for each, text in held.items() if fits(each, text)}


def reject_if_out_of_scope(
    request: str, materials: Mapping[str, str] | None
) -> dict[str, Any] | None:
    """Escalate a request that is neither about teaching nor about its materials."""
    words = find_foreign_words(request, _TEACHING_TERMS, (materials or {}).values())
    if not words:
        return None
    return escalate_out_of_scope(
        f"neither a course nor its materials mention {', '.join(words[:12])}"
    )
