"""The lenses: each checks one change with its own tools."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from extensions.tools.linting.ruff_process import lint_files
from extensions.tools.linting.rules import Lens, LintRule, ReviewFinding, find_rule, list_rule_codes
from nodes.limits.patterns import Pattern
from nodes.tools.framework.tool_report import ToolReport

from .diff import ParsedDiff, format_names
from .diff_materials import NO_REPOSITORY_GAP, ReviewMaterials, list_earlier_remarks
from .fragments import CodeFragment
from .guidelines import GUIDELINE_CONFIDENCE, Guidelines, read_guidelines
from .hits import RuleHit, build_findings, is_waived

MAX_COMPLEXITY = 15
_REEXPORTING_PATH = Pattern(r"(?:^|/)(?:__init__\.py|[^/]*compat[^/]*)$")
"""Files that import names for re-export."""


def scan_with_ruff(
    fragments: Sequence[CodeFragment],
    select: Sequence[str],
    *,
    find_other_rule: Callable[[str], LintRule | None] = lambda code: None,
    line_length: int = 88,
    target_version: str = "py310",
    is_preview: bool = False,
) -> list[RuleHit]:
    """Return what ruff finds in the lines that the diff adds.

    Args:
        find_other_rule: returns the rule for a code that is not in the table.
        is_preview: the selected rules are those that ruff has in preview.
    """
    by_name = {f"{index} {one.file.path}": one for index, one in enumerate(fragments)}
    found = lint_files(
        {name: one.text for name, one in by_name.items()},
        select,
        *("--ignore-noqa", "--line-length", str(line_length), "--target-version", target_version),
        *(["--preview"] if is_preview else []),
        *("--config", f"lint.mccabe.max-complexity={MAX_COMPLEXITY}"),
    )
    hits = list[RuleHit]()
    for hit in found:
        fragment = by_name[hit.file]
        file, line = fragment.file, fragment.find_added_line(hit.line)
        rule = find_rule("ruff", hit.code) or find_other_rule(hit.code)
        if rule is None or not line or is_waived(file.added[line], hit.code):
            continue
        if rule.needs == "file" and not fragment.is_whole:
            continue
        if hit.code != "F401" or not _REEXPORTING_PATH.search(file.path):
            hits.append(RuleHit(file, line, rule, hit.code, hit.message, hit.fix))
    return hits


MAX_UNCHECKED = 5
PREVIEW = "ruff-preview"
"""The table's name for rules that ruff has in preview: what docstrings promise and code lacks."""
_MERGE_MARKER = Pattern(r"(?:<{7}|>{7}) \S")


@dataclass(frozen=True)
class LensInput:
    """The input of a lens, and the report to which it adds gaps, failures and remarks."""

    diff: ParsedDiff
    materials: ReviewMaterials
    fragments: Sequence[CodeFragment]
    root: Path | None
    """The repository, where one is set."""
    report: ToolReport


LensResult = tuple[str, list[ReviewFinding]]
"""What a lens checked with, and its findings."""


def check_security(matter: LensInput) -> LensResult:
    """Find vulnerabilities and secrets, in tests and documents with less confidence."""
    from . import bandit_scan, credentials

    hits, skipped = bandit_scan.scan_with_bandit(matter.fragments)
    hits += credentials.find_secrets(matter.diff.files)
    if skipped:
        matter.report.failures.append(f"bandit could not scan {format_names(skipped)}")
    return "bandit and detect-secrets", build_findings(hits)


def check_bugs(matter: LensInput) -> LensResult:
    """Find defects in the logic, and unresolved merge conflicts in all files."""
    rule = find_rule("merge", "conflict")
    assert rule is not None, "the table has it"
    hits = scan_with_ruff(matter.fragments, list_rule_codes("ruff", "bugs"))
    hits += scan_with_ruff(
        [fragment for fragment in matter.fragments if fragment.is_whole],
        list_rule_codes(PREVIEW, "bugs"),
        find_other_rule=partial(find_rule, PREVIEW),
        is_preview=True,
    )
    hits += [
        RuleHit(file, number, rule, "conflict")
        for file in matter.diff.files
        for number, line in file.added.items()
        if _MERGE_MARKER.match(line)
    ]
    matter.report.gaps.append(
        "Not judged: whether the change does what it is meant to do; rules see patterns alone"
    )
    return "ruff's rules on logic", build_findings(hits)


def check_performance(matter: LensInput) -> LensResult:
    """Find needless work, blocking calls and functions that are hard to follow."""
    hits = scan_with_ruff(matter.fragments, list_rule_codes("ruff", "performance"))
    return "ruff's rules on performance", build_findings(hits, together=True)


def check_style(matter: LensInput) -> LensResult:
    """Find violations of the project's guidelines, and of a few generally accepted rules."""
    materials, report = matter.materials, matter.report
    guidelines = read_guidelines(materials.configuration, materials.prose)
    hits = scan_with_ruff(
        matter.fragments,
        [*list_rule_codes("ruff", "style"), *guidelines.required_rules],
        find_other_rule=guidelines.build_rule,
        line_length=guidelines.line_length,
        target_version=guidelines.target_version,
    )
    kept = [hit for hit in hits if not hit.code.startswith(guidelines.ignored_rules)]
    findings = build_findings([_apply_guideline(hit, guidelines) for hit in kept], together=True)
    unchecked = guidelines.unchecked_sentences
    report.gaps += [f"No rule checks {where}" for where in unchecked[:MAX_UNCHECKED]]
    if (more := len(unchecked) - MAX_UNCHECKED) > 0:
        report.gaps.append(f"{more} more guidelines need a reader")
    report.failures += [
        f"{name} cannot be read as TOML, so its rules were not checked"
        for name in guidelines.unread_files
    ]
    names = ", ".join([*materials.configuration, *materials.prose])
    asked = f" and those that {names} asks for" if guidelines.required_rules else ""
    return f"ruff's rules on style{asked}", findings


def check_history(matter: LensInput) -> LensResult:
    """Find fixes in the repository's history that the change undoes, and earlier remarks."""
    remarks = list_earlier_remarks(matter.diff, matter.materials.prose)
    if matter.root is None:
        matter.report.gaps.append(NO_REPOSITORY_GAP)
        matter.report.lines += remarks or ["No other material names a changed file."]
        return "a search of the other materials for the changed files", []
    from .history import review_history

    findings = review_history(matter.diff, matter.root, matter.report)
    matter.report.lines += remarks
    return "git's log and blame", findings


LENSES: dict[Lens, Callable[[LensInput], LensResult]] = {
    "security": check_security,
    "bugs": check_bugs,
    "performance": check_performance,
    "style": check_style,
    "history": check_history,
}


def _apply_guideline(hit: RuleHit, guidelines: Guidelines) -> RuleHit:
    """Raise the severity of a hit on a rule that the project requires, and quote where."""
    where = guidelines.find_requirement(hit.code)
    if not where:
        return hit
    advice = f"Asked for by {where}."
    rule = replace(hit.rule, confidence=GUIDELINE_CONFIDENCE, advice=advice)
    return replace(hit, rule=rule, penalty=0)
