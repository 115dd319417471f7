"""List what a human would have to ask before they can act on a request."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from nodes.limits.patterns import Pattern

from .human_decisions import ASKS_FOR_HUMAN, remove_pasted_log
from .log import Log

_VERSION = Pattern(r"\bv?\d+\.\d+(?:\.\d+)*\b|version[ =:]", re.IGNORECASE)
_TIME_GIVEN = Pattern(
    r"\d{4}-\d\d-\d\d|\b\d{1,2}:\d\d\b|\b(?:since|yesterday|today|tonight|ago"
    r"|last (?:night|week|month)|this (?:morning|afternoon|week)"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|january|february|march|april|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
_REPRODUCTION = Pattern(
    r"\b(?:when(?:ever)? (?:i|we|you|the|a)|after|(?:every|each) time|as soon as|while|trying to"
    r"|steps?)\b",
    re.IGNORECASE,
)
_ERROR_TEXT = Pattern(
    r"\berror:? \S|\"[^\"]{8,}\"|\b[A-Z]\w+(?:Error|Exception)\b|\bcode \d+|\b[45]\d\d\b"
)
_AFFECTED_USERS = Pattern(
    r"\b(?:all|every|only|some|one|two|\d+) (?:of )?(?:my |our |the )?(?:\w+ )?"
    r"(?:users?|customers?|colleagues?|guests?|tenants?|me|machines?)\b|everyone|everybody|nobody",
    re.IGNORECASE,
)
_CONTACT = Pattern(r"(?<![\w.+-])[\w.+-]+@[\w-]+\.\w+|\+?\d[\d ()/-]{6,30}\d")
_AMOUNT = Pattern(
    r"(?:EUR|USD|GBP|[€$£])\s?\d|\d(?:[.,]\d\d)?\s?(?:EUR|USD|GBP|euros?|dollars?|[€$£])"
)
_INVOICE_NUMBER = Pattern(
    r"\b(?:invoice|receipt|order|subscription|account)\s*(?:(?:no\.?|number|id|#)\s*)?(?:[#:]\s*)?"
    r"[A-Z]*-?\d{3}",
    re.IGNORECASE,
)
_ACCESS_CUT = Pattern(
    r"revoked|rotated|changed (?:the |all |our )?(?:password|key)|locked|disabled|taken offline",
    re.IGNORECASE,
)
_NO_MATCH = Pattern(r"(?!)")
"""For what no request states in a recognizable form."""
_BACKUP = Pattern(r"back-?ups?|snapshot", re.IGNORECASE)

_TECHNICAL_QUESTIONS: Final = (
    (_VERSION, "Which version of the product runs, and on what system?"),
    (_TIME_GIVEN, "Since when does it happen, with date, time and time zone?"),
    (_REPRODUCTION, "What was done right before it, step by step?"),
    (_ERROR_TEXT, "What does the error message or the log say, word for word?"),
    (_AFFECTED_USERS, "Who is affected: one user, some, or all?"),
)
_QUESTIONS_BY_MATTER: Final[Mapping[str, tuple[tuple[Pattern, str], ...]]] = {
    "security": (
        (_TIME_GIVEN, "When was it noticed, and by whom?"),
        (_ACCESS_CUT, "Has access been cut: passwords changed, keys revoked, sessions ended?"),
        (_NO_MATCH, "What could be seen or changed, and whose data is it?"),
    ),
    "data loss": (
        (_TIME_GIVEN, "When were the data last seen, and when were they found missing?"),
        (_BACKUP, "Of when is the last backup, and has anything been restored since?"),
        (
            _NO_MATCH,
            "Has the system been kept from writing since, so that nothing is overwritten?",
        ),
    ),
    "legal": (
        (_TIME_GIVEN, "Which dates and deadlines are there?"),
        (
            _NO_MATCH,
            "Which contract, letter or account is it about? Documents are to be attached.",
        ),
    ),
    "billing": (
        (_INVOICE_NUMBER, "Which account and which invoice is it, by number?"),
        (_AMOUNT, "Which amount is it, in which currency?"),
        (_TIME_GIVEN, "On which day was it charged?"),
    ),
    ASKS_FOR_HUMAN: ((_CONTACT, "How and when can the person be reached: telephone, e-mail?"),),
}


def list_open_questions(request: str, found: Mapping[str, str], logs: Sequence[Log]) -> list[str]:
    """Return the questions that neither the request nor its logs answer."""
    return list(dict.fromkeys(_iterate_questions(request, found, logs)))


def _iterate_questions(
    request: str, found: Mapping[str, str], logs: Sequence[Log]
) -> Iterator[str]:
    spoken = remove_pasted_log(request)
    for name in found:
        yield from (
            ask for pattern, ask in _QUESTIONS_BY_MATTER[name] if not pattern.search(spoken)
        )
    if found.keys() - {ASKS_FOR_HUMAN}:
        return
    known = {_ERROR_TEXT} if any(log.failures or log.entries for log in logs) else set()
    known |= (
        {_TIME_GIVEN} if any(entry.timestamp for log in logs for entry in log.entries) else set()
    )
    logged = any(Pattern(r"version[ =:]").search(e.message) for log in logs for e in log.entries)
    known |= {_VERSION} if logged else set()
    yield from (
        ask
        for pattern, ask in _TECHNICAL_QUESTIONS
        if pattern not in known and not pattern.search(spoken)
    )
