"""What a person would have to ask before they can act on a request."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.tools.support.log import Log
from nodes.tools.support.matters import ASKS_FOR_A_PERSON, prose

_VERSION = Pattern(r"\bv?\d+\.\d+(?:\.\d+)*\b|version[ =:]", re.IGNORECASE)
_WHEN = Pattern(
    r"\d{4}-\d\d-\d\d|\b\d{1,2}:\d\d\b|\b(?:since|yesterday|today|tonight|ago"
    r"|last (?:night|week|month)|this (?:morning|afternoon|week)"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|january|february|march|april|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
_HOW = Pattern(
    r"\b(?:when(?:ever)? (?:i|we|you|the|a)|after|(?:every|each) time|as soon as|while|trying to"
    r"|steps?)\b",
    re.IGNORECASE,
)
_ERROR = Pattern(
    r"\berror:? \S|\"[^\"]{8,}\"|\b[A-Z]\w+(?:Error|Exception)\b|\bcode \d+|\b[45]\d\d\b"
)
_WHO = Pattern(
    r"\b(?:all|every|only|some|one|two|\d+) (?:of )?(?:my |our |the )?(?:\w+ )?"
    r"(?:users?|customers?|colleagues?|guests?|tenants?|me|machines?)\b|everyone|everybody|nobody",
    re.IGNORECASE,
)
_REACH = Pattern(r"(?<![\w.+-])[\w.+-]+@[\w-]+\.\w+|\+?\d[\d ()/-]{6,30}\d")
_AMOUNT = Pattern(
    r"(?:EUR|USD|GBP|[€$£])\s?\d|\d(?:[.,]\d\d)?\s?(?:EUR|USD|GBP|euros?|dollars?|[€$£])"
)
_INVOICE = Pattern(
    r"\b(?:invoice|receipt|order|subscription|account)\s*(?:(?:no\.?|number|id|#)\s*)?(?:[#:]\s*)?"
    r"[A-Z]*-?\d{3}",
    re.IGNORECASE,
)
_STOPPED = Pattern(
    r"revoked|rotated|changed (?:the |all |our )?(?:password|key)|locked|disabled|taken offline",
    re.IGNORECASE,
)
_NEVER = Pattern(r"(?!)")
"""For what no request says so that it could be found."""
_BACKUP = Pattern(r"back-?ups?|snapshot", re.IGNORECASE)

_TECHNICAL: Final = (
    (_VERSION, "Which version of the product runs, and on what system?"),
    (_WHEN, "Since when does it happen, with date, time and time zone?"),
    (_HOW, "What was done right before it, step by step?"),
    (_ERROR, "What does the error message or the log say, word for word?"),
    (_WHO, "Who is affected: one user, some, or all?"),
)
_QUESTIONS: Final[Mapping[str, tuple[tuple[Pattern, str], ...]]] = {
    "security": (
        (_WHEN, "When was it noticed, and by whom?"),
        (_STOPPED, "Has access been cut: passwords changed, keys revoked, sessions ended?"),
        (_NEVER, "What could be seen or changed, and whose data is it?"),
    ),
    "data loss": (
        (_WHEN, "When were the data last seen, and when were they found missing?"),
        (_BACKUP, "Of when is the last backup, and has anything been restored since?"),
        (
            _NEVER,
            "Has the system been kept from writing since, so that nothing is overwritten?",
        ),
    ),
    "legal": (
        (_WHEN, "Which dates and deadlines are there?"),
        (
            _NEVER,
            "Which contract, letter or account is it about? Documents are to be attached.",
        ),
    ),
    "billing": (
        (_INVOICE, "Which account and which invoice is it, by number?"),
        (_AMOUNT, "Which amount is it, in which currency?"),
        (_WHEN, "On which day was it charged?"),
    ),
    ASKS_FOR_A_PERSON: ((_REACH, "How and when can the person be reached: telephone, e-mail?"),),
}


def missing(request: str, found: Mapping[str, str], logs: Sequence[Log]) -> list[str]:
    """Give the questions that neither the request nor its logs answer."""
    return list(dict.fromkeys(_asked(request, found, logs)))


def _asked(request: str, found: Mapping[str, str], logs: Sequence[Log]) -> Iterator[str]:
    spoken = prose(request)
    for name in found:
        yield from (ask for pattern, ask in _QUESTIONS[name] if not pattern.search(spoken))
    if found.keys() - {ASKS_FOR_A_PERSON}:
        return
    known = {_ERROR} if any(log.failures or log.entries for log in logs) else set()
    known |= {_WHEN} if any(entry.stamp for log in logs for entry in log.entries) else set()
    logged = any(Pattern(r"version[ =:]").search(e.message) for log in logs for e in log.entries)
    known |= {_VERSION} if logged else set()
    yield from (
        ask for pattern, ask in _TECHNICAL if pattern not in known and not pattern.search(spoken)
    )
