"""Review diffs by one lens; this runs in a child process."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from extensions.tools.linting.ruff_process import lint_files
from extensions.tools.linting.rules import Lens, LintRule, ReviewFinding, find_rule, list_rule_codes
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import SEVERITIES, ToolReport, fit_to_size

from .diff import ParsedDiff, format_names, read_diff
from .diff_materials import (
    NO_REPOSITORY_GAP,
    ReviewMaterials,
    attach_full_texts,
    list_earlier_remarks,
    sort_materials,
)
from .fragments import (
    MIN_SURE_CONFIDENCE,
    CodeFragment,
    RuleHit,
    build_findings,
    build_fragments,
    is_waived,
    list_waived_lines,
)
from .guidelines import GUIDELINE_CONFIDENCE, Guidelines, read_guidelines

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
    from .security_scan import find_secrets, scan_with_bandit

    hits, skipped = scan_with_bandit(matter.fragments)
    hits += find_secrets(matter.diff.files)
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


MAX_HINTS = 10
SHOWN_COUNTS = (200, 100, 50, 25)
"""Findings shown, fewer where they are too long together."""
NOTHING_ADDED = "The diff adds no lines that could be reviewed"


def review_diffs(
    *,
    lens: Lens,
    materials: Mapping[str, str],
    diffs: Sequence[str],
    paths: Sequence[str],
    repository: str,
) -> dict[str, Any]:
    """Return the report of a lens on the named diffs.

    Raises:
        ToolRefused: nothing in them can be read, or they change none of the paths.
    """
    root = Path(repository) if repository else None
    given = sort_materials(materials, diffs)
    change = read_diff("\n".join(materials[name] for name in diffs))
    if change.unread_parts and not change.files:
        raise ToolRefused("; ".join(change.unread_parts))
    change = attach_full_texts(_select_paths(change, paths), given.sources, root)
    python = [file for file in change.files if file.is_python and file.added]
    built = {} if lens == "history" else {file.path: build_fragments(file) for file in python}
    fragments = [fragment for made, _ in built.values() for fragment in made]
    report = ToolReport(gaps=list(change.skipped_parts), failures=list(change.unread_parts))
    if lens != "history":
        lost = [path for path, (_, left_out) in built.items() if left_out]
        report.gaps += _list_scope_gaps(change, lost)
    tools, findings = LENSES[lens](LensInput(change, given, fragments, root, report))
    if not any(file.added for file in change.files):
        report.gaps.append(NOTHING_ADDED)
    report.add_claim(f"{', '.join(diffs)} {_describe_size(change)}.", diffs[0])
    return fit_to_size(lambda most: _add_findings(report, tools, findings, most), SHOWN_COUNTS)


def _select_paths(change: ParsedDiff, paths: Sequence[str]) -> ParsedDiff:
    """Return the change of some files, named by their path, its end, or a folder."""
    if not paths:
        return change
    wanted = [path.strip("/") for path in paths]
    files = tuple(
        file
        for file in change.files
        if any(f"/{file.path}".endswith(f"/{path}") for path in wanted)
        or any(file.path.startswith(f"{path}/") for path in wanted)
    )
    if not files:
        changed = format_names(file.path for file in change.files)
        raise ToolRefused(f"the diff changes none of {format_names(paths)}; it changes {changed}")
    return replace(change, files=files)


def _add_findings(
    report: ToolReport, tools: str, findings: Sequence[ReviewFinding], most: int
) -> ToolReport:
    """Return the report with what was found, the gravest first, and then some hints."""
    ranked = sorted(findings, key=_rank)
    sure = [finding for finding in ranked if finding.confidence >= MIN_SURE_CONFIDENCE]
    hints = ranked[len(sure) :]
    shown, gaps = [*sure[:most], *hints[:MAX_HINTS]], list(report.gaps)
    if len(sure) > most:
        more = format_count(len(sure) - most, "more finding")
        gaps.append(f"{more} by {tools} left out; the gravest are listed")
    counts = Counter(finding.severity for finding in sure)
    words = ", ".join(f"{counts[name]} {name}" for name in SEVERITIES if counts[name])
    told = f"{format_count(len(sure), 'finding')} ({words})" if sure else "No findings"
    weak = f"; {format_count(len(hints), 'hint')} below a confidence of {MIN_SURE_CONFIDENCE}"
    lines = [f"{told} by {tools}{weak * bool(hints)}.", *report.lines]
    return replace(report, lines=lines, findings=list(map(asdict, shown)), gaps=gaps)


def _rank(finding: ReviewFinding) -> tuple[int, int, str, int]:
    severity = SEVERITIES.index(finding.severity) + 10 * (finding.confidence < MIN_SURE_CONFIDENCE)
    return severity, -finding.confidence, finding.file, finding.line or 0


def _list_scope_gaps(change: ParsedDiff, lost: Sequence[str]) -> list[str]:
    """Return which parts of the change no rule for Python could check."""
    python = [file for file in change.files if file.is_python and file.added]
    parts = {
        "Not Python, so read for secrets and merge markers only: ": [
            file.path for file in change.files if not file.is_python and file.added
        ],
        "Parts that are not Python by themselves were left out: ": lost,
        "Unused imports, undefined names and the like were not looked for, as only a part is "
        "known; attach the whole files too (setting: SUPERVISE_REPOSITORY): ": [
            file.path for file in python if file.full_text is None
        ],
        "Lines that say `noqa` were passed over, but for security: ": [
            f"{file.path}:{line}" for file in python for line in list_waived_lines(file)
        ],
    }
    return [f"{said}{format_names(names)}" for said, names in parts.items() if names]


def _describe_size(change: ParsedDiff) -> str:
    added = sum(len(file.added) for file in change.files)
    removed = sum(len(file.removed) for file in change.files)
    files = format_count(len(change.files), "file")
    return f"adds {format_count(added, 'line')} and removes {removed} in {files}"
