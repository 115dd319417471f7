"""The lenses: each checks one change with its own tools."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nodes.limits.patterns import Pattern
from nodes.tools.linting.finding import ReviewFinding
from nodes.tools.linting.rules import Lens, find_rule, list_rule_codes

from .diff import ParsedDiff, format_names
from .diff_materials import ReviewMaterials
from .fragments import CodeFragment
from .guidelines import GUIDELINE_CONFIDENCE, Guidelines, read_guidelines
from .hits import RuleHit, build_findings
from .ruff_scan import RuffOptions, scan_with_ruff

MAX_UNCHECKED = 5
_MERGE_MARKER = Pattern(r"(?:<{7}|>{7}) \S")


@dataclass(frozen=True)
class LensResult:
    """The findings of a lens."""

    tools: str
    findings: Sequence[ReviewFinding]
    remarks: Sequence[str] = ()
    gaps: Sequence[str] = ()
    failures: Sequence[str] = ()
    """What it could not check."""


@dataclass(frozen=True)
class LensInput:
    """The input of a lens."""

    diff: ParsedDiff
    materials: ReviewMaterials
    fragments: Sequence[CodeFragment]
    root: Path | None
    """The repository, where one is set."""


def check_security(matter: LensInput) -> LensResult:
    """Find vulnerabilities and secrets, in tests and documents with less confidence."""
    from . import bandit_scan, credentials

    hits, skipped = bandit_scan.scan_with_bandit(matter.fragments)
    hits += credentials.find_secrets(matter.diff.files)
    failures = [f"bandit could not scan {format_names(skipped)}"] * bool(skipped)
    return LensResult("bandit and detect-secrets", build_findings(hits), failures=failures)


def check_bugs(matter: LensInput) -> LensResult:
    """Find defects in the logic, and unresolved merge conflicts in all files."""
    hits = _lint_for_lens(matter, "bugs") + _find_merge_markers(matter.diff)
    gap = "Not judged: whether the change does what it is meant to do; rules see patterns alone"
    return LensResult("ruff's rules on logic", build_findings(hits), gaps=[gap])


def check_performance(matter: LensInput) -> LensResult:
    """Find needless work, blocking calls and functions that are hard to follow."""
    hits = _lint_for_lens(matter, "performance")
    return LensResult("ruff's rules on performance", build_findings(hits, together=True))


def check_style(matter: LensInput) -> LensResult:
    """Find violations of the project's guidelines, and of a few generally accepted rules."""
    guidelines = read_guidelines(matter.materials.configuration, matter.materials.prose)
    options = RuffOptions(
        [*list_rule_codes("ruff", "style"), *guidelines.required_rules],
        guidelines.build_rule,
        guidelines.line_length,
        guidelines.target_version,
    )
    hits = [
        _apply_guideline(hit, guidelines)
        for hit in scan_with_ruff(matter.fragments, options)
        if not hit.code.startswith(guidelines.ignored_rules)
    ]
    unchecked = guidelines.unchecked_sentences
    gaps = [f"No rule checks {where}" for where in unchecked[:MAX_UNCHECKED]]
    if (more := len(unchecked) - MAX_UNCHECKED) > 0:
        gaps.append(f"{more} more guidelines need a reader")
    failures = [
        f"{name} cannot be read as TOML, so its rules were not checked"
        for name in guidelines.unread_files
    ]
    tools = "ruff's rules on style"
    if guidelines.required_rules:
        names = ", ".join([*matter.materials.configuration, *matter.materials.prose])
        tools += f" and those that {names} asks for"
    return LensResult(tools, build_findings(hits, together=True), gaps=gaps, failures=failures)


def check_history(matter: LensInput) -> LensResult:
    """Find fixes in the repository's history that the change undoes."""
    assert matter.root is not None, "without a repository no child is asked"
    from .history import review_history

    return LensResult("git's log and blame", *review_history(matter.diff, matter.root))


LENSES: dict[Lens, Callable[[LensInput], LensResult]] = {
    "security": check_security,
    "bugs": check_bugs,
    "performance": check_performance,
    "style": check_style,
    "history": check_history,
}


def _lint_for_lens(matter: LensInput, lens: Lens) -> list[RuleHit]:
    return scan_with_ruff(matter.fragments, RuffOptions(list_rule_codes("ruff", lens)))


def _find_merge_markers(change: ParsedDiff) -> list[RuleHit]:
    rule = find_rule("merge", "conflict")
    assert rule is not None, "the table has it"
    return [
        RuleHit(file, number, rule, "conflict")
        for file in change.files
        for number, line in file.added.items()
        if _MERGE_MARKER.match(line)
    ]


def _apply_guideline(hit: RuleHit, guidelines: Guidelines) -> RuleHit:
    """Raise the severity of a hit on a rule that the project requires, and quote where."""
    where = guidelines.find_requirement(hit.code)
    if not where:
        return hit
    advice = f"Asked for by {where}."
    rule = replace(hit.rule, confidence=GUIDELINE_CONFIDENCE, advice=advice)
    return replace(hit, rule=rule, penalty=0)
