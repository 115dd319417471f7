"""Which materials a tool of this field works on, and what is not for it."""

from collections.abc import Callable, Mapping
from typing import Any

from nodes.text.terms import extract_terms
from nodes.tools.materials import resolve_material_name
from nodes.tools.out_of_scope import escalate_out_of_scope, find_foreign_words

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
    """Return the material of a name; without one, those that fit.

    Raises:
        ToolRefused: there is none of that name.
    """
    held = materials or {}
    if name:
        whole = resolve_material_name(name, held)
        return {whole: held[whole]}
    return {each: text for each, text in held.items() if fits(each, text)}


def reject_if_out_of_scope(
    request: str, materials: Mapping[str, str] | None
) -> dict[str, Any] | None:
    """Hand a request back that speaks neither of teaching nor of its materials."""
    words = find_foreign_words(request, _TEACHING_TERMS, (materials or {}).values())
    if not words:
        return None
    return escalate_out_of_scope(
        f"neither a course nor its materials speak of {', '.join(words[:12])}"
    )
