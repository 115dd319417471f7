"""Verbs of learning objectives: what each asks of a learner, and those nobody can assess."""

from collections.abc import Mapping

from nodes.checks.lexicon import forms

TAXONOMY = (
    "the revised Bloom taxonomy (Anderson and Krathwohl, A Taxonomy for Learning, Teaching, and "
    "Assessing, 2001)"
)
LEVELS = ("remember", "understand", "apply", "analyze", "evaluate", "create")

_VERBS: Mapping[str, str] = {
    "remember": """
        cite define duplicate identify label list locate match memorize name quote recall recite
        recognize repeat reproduce retrieve spell state tabulate""",
    "understand": """
        classify compare convert describe discuss exemplify explain express extrapolate
        illustrate infer interpret map paraphrase predict rephrase represent restate summarize
        translate""",
    "apply": """
        administer apply calculate carry chart complete compute convert count demonstrate determine
        employ execute graph implement manipulate measure modify operate perform plot practice
        prepare schedule show simulate sketch solve use""",
    "analyze": """
        analyze attribute categorize contrast correlate deconstruct deduce diagram differentiate
        discriminate dissect distinguish examine inspect investigate order organize outline
        relate separate sequence sort structure subdivide trace""",
    "evaluate": """
        appraise argue assess check conclude coordinate critique criticize debate decide defend
        detect evaluate grade judge justify monitor prioritize rank rate recommend review support
        test validate verify weigh""",
    "create": """
        arrange assemble author build collaborate combine compile compose construct create design
        develop devise draft formulate generate hypothesize invent make plan produce program
        propose revise rewrite synthesize write""",
}
_LEVEL_OF = {verb: level for level, verbs in _VERBS.items() for verb in verbs.split()}
_BETTER: Mapping[str, tuple[str, ...]] = {
    "list, name, define or identify": ("know", "learn", "remember", "recollect"),
    "explain, summarize, classify or compare": (
        *("understand", "comprehend", "grasp", "realize", "see", "internalize"),
        *("aware", "familiar", "acquainted", "familiarize", "conceptualize", "perceive"),
        *("insight", "understanding", "awareness", "sense"),
    ),
    "solve, calculate, demonstrate or use": (
        *("master", "acquire", "gain", "improve", "become"),
        *("get", "work", "be", "have", "strengthen", "increase", "enhance"),
    ),
    "compare, distinguish, examine or organize": (
        *("explore", "study", "consider", "cover", "discover", "think", "reflect", "look"),
        *("focus", "engage", "experience"),
    ),
    "justify, assess, defend or critique": (
        *("appreciate", "value", "believe", "enjoy", "feel", "respect", "like", "accept"),
    ),
}
_BETTER_THAN = {verb: better for better, verbs in _BETTER.items() for verb in verbs}
EMPTY = frozenset(("be", "become", "get", "have", "gain", "acquire", "develop"))
"""Verbs that say nothing without the word behind them: be familiar, gain insight."""
_SPELLINGS = (("ise", "ize"), ("yse", "yze"), ("ising", "izing"), ("ises", "izes"))


def level_of(verb: str) -> str:
    """Give the level a verb usually asks for; empty where it is on no list."""
    return next((_LEVEL_OF[form] for form in _forms(verb) if form in _LEVEL_OF), "")


def better_than(verb: str) -> str:
    """Name verbs to put in the place of one that cannot be assessed; empty where it can."""
    return next((_BETTER_THAN[form] for form in _forms(verb) if form in _BETTER_THAN), "")


def _forms(verb: str) -> list[str]:
    """Give the forms a verb may have, as it stands first, in either spelling."""
    word = verb.lower()
    found = [word, *sorted(forms(word) - {word})]
    for one, other in _SPELLINGS:
        found += [form.removesuffix(one) + other for form in found if form.endswith(one)]
    return found
