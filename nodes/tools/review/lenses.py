"""The lenses: each looks at one change with tools of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nodes.limits.patterns import Pattern
from nodes.tools.review.diff import Change, listed
from nodes.tools.review.found import Found
from nodes.tools.review.fragments import fragments
from nodes.tools.review.given import Given
from nodes.tools.review.guidelines import CONFIDENCE, Guidelines, read_guidelines
from nodes.tools.review.hits import Hit, findings
from nodes.tools.review.linting import Options, Source
from nodes.tools.review.linting import hits as ruff_hits
from nodes.tools.review.rules import Lens, Rule, codes, rule_of

MAX_UNCHECKED = 5
_MARKER = Pattern(r"(?:<{7}|>{7}) \S")


@dataclass(frozen=True)
class Seen:
    """What a lens has found."""

    tools: str
    findings: Sequence[Found]
    gaps: Sequence[str] = ()
    remarks: Sequence[str] = ()
    failures: Sequence[str] = ()
    """What it could not look at."""


@dataclass(frozen=True)
class Matter:
    """What a lens looks at."""

    change: Change
    given: Given
    sources: Sequence[Source]
    folder: Path
    """Empty, for what the tools want to have as files."""
    root: Path | None
    """The repository, where one is set."""


def security(matter: Matter) -> Seen:
    """Look for ways to attack and for secrets, in tests and documents with less confidence."""
    from nodes.tools.review import credentials, flaws

    hits, skipped = flaws.hits(matter.sources, matter.folder)
    hits += credentials.hits(matter.change.files)
    failures = [f"bandit could not scan {listed(skipped)}"] * bool(skipped)
    long, most = credentials.long_lines(matter.change.files), credentials.MAX_LINE_CHARS
    gap = f"Searched for secrets in their first {most:,} characters only: {listed(long)}"
    tools = "bandit and detect-secrets"
    return Seen(tools, findings(hits), [gap] * bool(long), failures=failures)


def bugs(matter: Matter) -> Seen:
    """Look for defects in the logic, and in all files for conflicts left open."""
    hits = _linted(matter, "bugs") + _markers(matter.change)
    gap = "Not judged: whether the change does what it is meant to do; rules see patterns alone"
    return Seen("ruff's rules on logic", findings(hits), [gap])


def performance(matter: Matter) -> Seen:
    """Look for needless work, blocking calls and functions that are hard to follow."""
    hits = _linted(matter, "performance")
    return Seen("ruff's rules on performance", findings(hits, together=True))


def style(matter: Matter) -> Seen:
    """Look for what the project's guidelines ask, and for a few habits that nobody defends."""
    guidelines = read_guidelines(matter.given.configuration, matter.given.prose)
    asked = [code for code in guidelines.asked if not guidelines.ignores(code)]
    selected = [*codes("ruff", "style"), *asked]
    options = Options(selected, guidelines.rule, guidelines.line_length, guidelines.target)
    found = ruff_hits(matter.sources, options, matter.folder)
    hits = [hit for hit in found if not guidelines.ignores(hit.code)]
    hits = [_as_asked(hit, guidelines) for hit in hits]
    gaps = [f"No rule checks {where}" for where in guidelines.unchecked[:MAX_UNCHECKED]]
    if len(guidelines.unchecked) > MAX_UNCHECKED:
        gaps.append(f"{len(guidelines.unchecked) - MAX_UNCHECKED} more guidelines need a reader")
    failures = [
        f"{name} cannot be read as TOML, so its rules were not checked"
        for name in guidelines.unread
    ]
    tools = "ruff's rules on style"
    if guidelines.asked:
        names = ", ".join([*matter.given.configuration, *matter.given.prose])
        tools += f" and those that {names} asks for"
    return Seen(tools, findings(hits, together=True), gaps, failures=failures)


def history(matter: Matter) -> Seen:
    """Look into the repository for fixes that the change undoes."""
    assert matter.root is not None, "without a repository no child is asked"
    from nodes.tools.review.history import NoHistory, reviewed

    try:
        found, remarks, gaps = reviewed(matter.change, matter.root)
    except NoHistory as reason:
        failure = f"The history was not looked at: {reason}"
        return Seen("", [], remarks=["Not looked at."], failures=[failure])
    return Seen("git's log and blame", found, gaps, remarks)


LENSES: dict[Lens, Callable[[Matter], Seen]] = {
    "security": security,
    "bugs": bugs,
    "performance": performance,
    "style": style,
    "history": history,
}


def sources_of(change: Change) -> tuple[list[Source], list[str]]:
    """Make the change's Python into text that parses; with it, the files of what could not be."""
    made, lost = list[Source](), list[str]()
    for file in change.files:
        if file.is_python and file.added:
            pieces, left_out = fragments(file)
            made += [Source(file, piece) for piece in pieces]
            lost += [file.path] * bool(left_out)
    return made, lost


def _linted(matter: Matter, lens: Lens) -> list[Hit]:
    return ruff_hits(matter.sources, Options(codes("ruff", lens)), matter.folder)


def _markers(change: Change) -> list[Hit]:
    rule = rule_of("merge", "conflict")
    assert rule is not None, "the table has it"
    return [
        Hit(file, number, rule, "conflict")
        for file in change.files
        for number, line in file.added.items()
        if _MARKER.match(line)
    ]


def _as_asked(hit: Hit, guidelines: Guidelines) -> Hit:
    """Raise a hit on a rule that the project has set itself, and quote where."""
    where = guidelines.asks_for(hit.code)
    if not where:
        return hit
    rule = Rule(**{**vars(hit.rule), "confidence": CONFIDENCE, "advice": f"Asked for by {where}."})
    return Hit(hit.file, hit.line, rule, hit.code, hit.message, hit.advice)
