"""Verbs of learning objectives: their Bloom level, and those that cannot be assessed."""

from collections.abc import Mapping

from nodes.text.word_forms import list_base_forms

TAXONOMY = (
    "the revised Bloom taxonomy (Anderson and Krathwohl, A Taxonomy for Learning, Teaching, and "
    "Assessing, 2001)"
)
LEVELS = ("remember", "understand", "apply", "analyze", "evaluate", "create")

_VERBS_BY_LEVEL: Mapping[str, str] = {
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
_LEVEL_BY_VERB = {verb: level for level, verbs in _VERBS_BY_LEVEL.items() for verb in verbs.split()}
_VAGUE_BY_BETTER_VERBS: Mapping[str, tuple[str, ...]] = {
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
_BETTER_BY_VAGUE_VERB = {
    verb: better for better, verbs in _VAGUE_BY_BETTER_VERBS.items() for verb in verbs
}
EMPTY_VERBS = frozenset(("be", "become", "get", "have", "gain", "acquire", "develop"))
"""Verbs with no meaning without the word behind them: be familiar, gain insight."""
_SPELLING_PAIRS = (("ise", "ize"), ("yse", "yze"), ("ising", "izing"), ("ises", "izes"))


def find_level(verb: str) -> str:
    """Return the level a verb usually has; empty if it is on no list."""
    return next((_LEVEL_BY_VERB[form] for form in _list_forms(verb) if form in _LEVEL_BY_VERB), "")


def suggest_better_verbs(verb: str) -> str:
    """Return better verbs for one that cannot be assessed; empty if it can."""
    return next(
        (
            _BETTER_BY_VAGUE_VERB[form]
            for form in _list_forms(verb)
            if form in _BETTER_BY_VAGUE_VERB
        ),
        "",
    )


def _list_forms(verb: str) -> list[str]:
    """Return the forms a verb may have as first word, in both spellings."""
    word = verb.lower()
    found = [word, *sorted(list_base_forms(word) - {word})]
    for one, other in _SPELLING_PAIRS:
        found += [form.removesuffix(one) + other for form in found if form.endswith(one)]
    return found
