"""Which workers a text names: to work alone, to work, or not to work."""

from collections.abc import Collection
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.schemas.team import Team
from nodes.text.similarity import extract_words
from nodes.text.word_lists import (
    GERMAN_FUNCTION_WORDS,
    GERMAN_QUESTION_WORDS,
    POLITE_WORDS,
    QUESTION_WORDS,
)

ALONE, OTHERS, UNWANTED, UNCLEAR = "alone", "others", "unwanted", "unclear"


def _join(words: str) -> str:
    """Return a pattern for any of these; _ is a space."""
    return r"(?i:\b(?:" + words.replace(" ", "|").replace("_", r"\s{1,4}") + r")\b)"


_NOT: Final = _join(
    r"no not never nor neither cannot \w{1,9}n['\u2019]t dont nein nicht nie kein\w{0,2} weder noch"
)
_REMOVING: Final = _join(
    r"without except exclud(?:e|ing) skip(?:ping)? drop(?:ping)? omit remov(?:e|ing) delete ohne"
    r" au(?:ß|ss)er (?:instead|rid)_of than (?:an)?statt anstelle verzicht\w{0,2}"
    r" streich\w{0,2} entfern\w{0,2} (?:weg|raus)lass\w{0,2} leave_out"
    r" (?:leave|take|keep)(?=.*\bout\b) la(?:ß|ss)\w{0,2}(?=.*\b(?:weg|raus|aus)\b)"
    r" (?:all|any|every|alle|jeder?)(?:body|one|_\w{1,20})?_(?:but|bis_auf)"
)
_NOBODY: Final = (
    r"(?:nobody|no_?one|none|no_(?:other_)?(?:worker|agent|other)s?|niemande?n?|keine[nrm]?)"
)
_NOBODY_ELSE: Final = Pattern(
    _join(
        rf"{_NOBODY}(?:_(?:else|sonst|andere\w?))?_(?:but|except|other_than|au(?:ß|ss)er|als)"
        rf" {_NOBODY}_(?:else|sonst|andere\w?) sonst_{_NOBODY} no_others?"
    )
)
_ONLY: Final = Pattern(
    _join(
        "only alone just solely exclusively nur alleine? blo(?:ß|ss) lediglich"
        " ausschlie(?:ß|ss)lich"
    )
    + r"(?!\s+(?:if|when|where|for|at|after|to|once|as|wenn|falls|für|beim?|nach|zu[mr]?|[ua]m)\b)"
)
_ADDING: Final = Pattern(_join(r"add also too as_well include plus auch zusätzlich dazu hinzu"))
_NEGATION, _REMOVAL, _DENIAL = Pattern(_NOT), Pattern(_REMOVING), Pattern(f"{_NOT}|{_REMOVING}")
_NOT_ONLY: Final = Pattern(rf"{_NOT}\s+{_ONLY.pattern}")
_DENIED: Final = Pattern(
    rf"(?:{_NOT}(?:\s+(?:be|\w{{1,20}}(?:ed|en|t)|necessary|mehr|dabei|nötig))*|{_REMOVING}"
    rf"|{_join('raus weg unnecessary superfluous unnötig überflüssig')})"
    rf"(?:\W+{_join('please bitte thanks danke here hier at_all any_more')})*\W*$"
)
"""At the end of a clause that names a worker before: the writer is not needed."""
_TURNS: Final = (
    "but aber sondern instead(?!_of) rather(?!_than) lieber stattdessen use take keep ask let"
    " nimm nehmt nehmen verwende nutze frage? behalte"
)
_TURN: Final = Pattern(rf"(?={_join(_TURNS)}|{_ONLY.pattern})")
"""Begins a clause after and before a name."""
_STOP: Final = Pattern(
    rf"[,;!?()\n\u2013\u2014]+|\.(?=\s|$)|\s-\s|(?<={_join('yes ja')})"
    rf"|:(?!\s*(?:{_NOT}|{_join('yes ja')}))"
    rf"|{_join('and or und oder')}\s+(?={_DENIAL.pattern})"
)
_OR: Final = Pattern(_join("or oder nor noch"))
_GRAMMAR: Final = GERMAN_FUNCTION_WORDS | POLITE_WORDS | {"too"}
_ASKING: Final = QUESTION_WORDS | GERMAN_QUESTION_WORDS


def list_named_workers(team: Team, text: str) -> dict[str, list[str]]:
    """Return the workers that a text names, by how: alone, others, or unwanted.

    A denial, or "only", is for the names of its clause. If one name is unclear, there are none.
    """
    read = _Reader(team).read(text)
    is_clear = not any(names for how, names in read if how == UNCLEAR)
    return {
        kind: [name for how, names in read if is_clear and how == kind for name in names]
        for kind in (ALONE, OTHERS, UNWANTED)
    }


def choose_workers(team: Team, planned: Collection[str], reason: str) -> list[str]:
    """Return who is to work after a plan was rejected for a reason; none if it does not say."""
    named = list_named_workers(team, reason)
    chosen = named[ALONE] or ([*planned, *named[OTHERS]] if named[UNWANTED] else [])
    return [name for name in dict.fromkeys(chosen) if name not in named[UNWANTED]]


class _Reader:
    """Reads one text, clause by clause."""

    def __init__(self, team: Team) -> None:
        self._names = {worker.name.replace("_", ""): worker.name for worker in team.roster}
        spelled = (each.name.replace("_", r"[\s_-]?") for each in team.roster)
        longest_first = "|".join(sorted(spelled, key=len, reverse=True))
        self._name = Pattern(rf"(?i)\b({longest_first})(?:e?s|e?n|['\u2019]s)?\b")

    def read(self, text: str) -> list[tuple[str, list[str]]]:
        """Return how each clause names workers."""
        read: list[tuple[str, list[str]]] = []
        for clause in self._split(_NOBODY_ELSE.sub("only", text)):
            if self._name.search(clause):
                how = read[-1][0] if read else ""
                read += [each for each in self._read_clause(clause, how) if each[1]]
            elif read and _ONLY.search(clause):  # the writer, no one else
                how, names = read.pop()
                read.append((ALONE if how in (ALONE, OTHERS) else UNCLEAR, names))
        return read

    def _split(self, text: str) -> list[str]:
        """Return the clauses of a text."""
        clauses: list[str] = []
        for piece in _STOP.split(text):
            clauses.append("")
            for part in _TURN.split(piece):
                if self._name.search(part) and self._name.search(clauses[-1]):
                    clauses.append("")
                clauses[-1] += part
        return clauses

    def _read_clause(self, clause: str, before: str) -> list[tuple[str, list[str]]]:
        """Return how a clause names workers before a denial, and after it."""
        if self._is_bare(clause):
            goes_on = before == ALONE or (before == UNWANTED and _OR.search(clause))
            unclear = UNCLEAR if before == UNWANTED else OTHERS
            return [(before if goes_on else unclear, self._find_names(clause))]
        denial, only = _DENIAL.search(clause), _ONLY.search(clause)
        cut = denial.start() if denial else len(clause)
        early, late = self._find_names(clause[:cut]), self._find_names(clause[cut:])
        if not late and _DENIED.search(clause) and _ASKING.isdisjoint(clause.lower().split()):
            early, late = [], early
        if _NEGATION.search(clause) and _REMOVAL.search(clause):  # do not leave the writer out
            return [(OTHERS, [*early, *late])]
        is_only = only and not _ADDING.search(clause)
        is_late = bool(only and not early and only.start() > cut)  # no writer and a clerk only
        is_unclear = is_late or bool(_NOT_ONLY.search(clause))
        return [(ALONE if is_only else OTHERS, early), (UNCLEAR if is_unclear else UNWANTED, late)]

    def _find_names(self, text: str) -> list[str]:
        spelled = (each[1].lower() for each in self._name.finditer(text))
        return [self._names["".join(filter(str.isalnum, each))] for each in spelled]

    def _is_bare(self, clause: str) -> bool:
        """Return whether a clause only names workers, as in a list."""
        words = {*extract_words(self._name.sub(" ", clause))}
        signs = (_DENIAL, _ONLY, _TURN)
        return words <= _GRAMMAR and not any(each.search(clause) for each in signs)
