"""What a human's plain words decide: approval, rejection, or nothing that is certain."""

from typing import Final, Literal

from nodes.limits.patterns import Pattern

Verdict = Literal["approve", "reject", "unclear"]

MIN_OBJECTION_WORDS: Final = 3
"""A shorter reply that is neither yes nor no counts as a slip: the question is repeated."""


def _list_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_APPROVING: Final = _list_words(
    """accept accepted agree agreed approve approved confirm confirmed continue correct excellent
    fine go good great lgtm ok okay perfect proceed run ship start sure true works y yeah yep yes
    yup"""
)
_FILLING: Final = _list_words(
    """a absolutely ahead all and as by course for i is it lets looks me now of on plan please
    s seems sounds thank thanks that the thing this to us very we with"""
)
"""Words that neither approve nor object."""
_REJECTING: Final = _list_words(
    """cancel decline declined deny denied disagree disapprove false n nah never no nope reject
    rejected stop"""
)
_PHRASES: Final = (
    ("\N{THUMBS UP SIGN}", " yes "),
    ("\N{WHITE HEAVY CHECK MARK}", " yes "),
    ("\N{THUMBS DOWN SIGN}", " no "),
    ("\N{CROSS MARK}", " no "),
    ("\N{RIGHT SINGLE QUOTATION MARK}", "'"),
    ("let's", "lets"),
    ("do it", " go "),
    ("thank you", " thanks "),
)
_APPROVABLE: Final = Pattern(r"[a-z\s.,;:!'\-()*_\ufe0f\U0001f3fb-\U0001f3ff]+")
_WORD: Final = Pattern(r"[a-z]+")
_DOUBTFUL: Final = Pattern(
    r"\bis (?:it|that|the|this)\b|\b(?:correct|perfect) (?:it|that|the|this)\b"
)
"""Words that ask or order: "is it good", "correct the plan"."""


def read_words(text: str) -> tuple[Verdict, str]:
    """Return what plain words decide, and the reason of a rejection.

    Only words that all belong to an approval approve; a sentence of anything else is an objection.
    """
    said = text.strip()
    plain = _replace_phrases(said.lower())
    if _is_approval(plain):
        return "approve", ""
    first, _, reason = said.partition(":")
    if _replace_phrases(first.lower()).strip(" .!") in _REJECTING:
        return "reject", reason.strip()
    opening, _, rest = said.partition(",")
    if rest and _replace_phrases(opening.lower()).strip() in _REJECTING:
        return "reject", rest.strip()
    return ("reject", said) if len(said.split()) >= MIN_OBJECTION_WORDS else ("unclear", said)


def _is_approval(plain: str) -> bool:
    if not plain or not _APPROVABLE.fullmatch(plain) or _DOUBTFUL.search(plain):
        return False
    words = {word.group() for word in _WORD.finditer(plain)}
    return bool(words & _APPROVING) and words <= _APPROVING | _FILLING


def _replace_phrases(text: str) -> str:
    for phrase, word in _PHRASES:
        text = text.replace(phrase, word)
    return text.strip()
