"""Review real changes: the differences between two releases of public packages.

    python -m tests.benchmarks.review_real [--only NAME …] [--reverse] [--keep FOLDER] [--pip PIP]

Most pairs go backwards, from the release that mends a known defect to the one before, so that the
change brings the defect in. Prints a row for each package, and the findings below it. Needs the
package index; nothing is installed, and nothing of the packages is run but what pip needs to know
their names.
"""

import argparse
import asyncio
import difflib
import shlex
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from graph import arun
from graph.runs.outcome import Outcome
from graph.settings import Settings
from nodes.synthesis.findings import collect_findings

KINDS = (".py", ".pyi", ".cfg", ".toml", ".yml", ".yaml", ".ini", ".sh", ".js")
MAX_FILE_BYTES = 400_000


@dataclass(frozen=True)
class ReleasePair:
    """Two releases; the change goes from the first to the second."""

    package: str
    before: str
    after: str
    note: str
    under: str = ""
    """The folder to look at; all when empty."""


PAIRS = (
    ReleasePair("requests", "2.31.0", "2.30.0", "leaks Proxy-Authorization (CVE-2023-32681)"),
    ReleasePair(
        "urllib3", "2.0.7", "2.0.5", "keeps cookies and bodies on redirects (CVE-2023-43804)"
    ),
    ReleasePair("jinja2", "3.1.4", "3.1.2", "lets attributes through xmlattr (CVE-2024-22195)"),
    ReleasePair("flask", "2.2.2", "2.3.0", "forwards, a feature release"),
    ReleasePair("paramiko", "2.4.0", "2.4.2", "forwards, with the fix of CVE-2018-7750"),
    ReleasePair(
        "celery", "5.2.2", "5.2.1", "builds any exception a backend names (CVE-2021-23727)"
    ),
    ReleasePair("pillow", "9.0.1", "8.4.0", "eval of names (CVE-2022-22817), shell commands"),
    ReleasePair("joblib", "1.2.0", "1.1.0", "eval of pre_dispatch (CVE-2022-21797)", "joblib"),
    ReleasePair("babel", "2.9.1", "2.9.0", "unpickles a file of any path (CVE-2021-42771)"),
    ReleasePair("django", "4.2.11", "4.2.10", "slow regular expression (CVE-2024-27351)", "django"),
    ReleasePair(
        "ansible-core", "2.15.6", "2.15.5", "unpacks archives without a check (CVE-2023-5115)"
    ),
)


def main() -> None:
    """Review each pair and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--reverse", action="store_true", help="go the other way")
    parser.add_argument("--keep", type=Path, help="where downloads stay; a temporary folder else")
    parser.add_argument("--pip", default=f"{sys.executable} -m pip")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = options.keep or Path(folder)
        for pair in PAIRS:
            if options.only and pair.package not in options.only:
                continue
            try:
                trees = [
                    _read_archive(
                        _download_release(pair.package, version, store, options.pip), pair.under
                    )
                    for version in (pair.before, pair.after)
                ]
            except OSError as error:
                print(f"| {pair.package} | not downloaded: {error} |")
                continue
            if options.reverse:
                pair = replace(pair, before=pair.after, after=pair.before)
                trees.reverse()
            _print_review(pair, _make_diff(*trees), Path(folder))


def _download_release(package: str, version: str, store: Path, pip: str) -> Path:
    """Fetch a source release, or a wheel where pip cannot read its source here."""
    target = store / f"{package}-{version}"
    target.mkdir(parents=True, exist_ok=True)
    for kind in ("--no-binary", "--only-binary"):
        if any(target.iterdir()):
            break
        command = [*shlex.split(pip), "download", "-q", "--no-deps", kind, ":all:"]
        done = subprocess.run(
            [*command, f"{package}=={version}", "-d", str(target)], capture_output=True, check=False
        )
    found = next(target.iterdir(), None)
    if found is None:
        raise OSError(done.stderr.decode(errors="replace").strip().splitlines()[-1])
    return found


def _read_archive(archive: Path, under: str) -> dict[str, str]:
    """Read the texts of an archive, by their names below its top folder."""
    texts = dict[str, str]()
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as package:
            for info in package.infolist():
                if info.file_size <= MAX_FILE_BYTES and info.filename.endswith(KINDS):
                    texts[info.filename] = package.read(info).decode(errors="replace")
    else:
        with tarfile.open(archive) as package:
            for member in package:
                name = member.name.partition("/")[2]
                if member.isfile() and member.size <= MAX_FILE_BYTES and name.endswith(KINDS):
                    held = package.extractfile(member)
                    texts[name] = held.read().decode(errors="replace") if held else ""
    return {name: text for name, text in texts.items() if f"/{name}".find(f"/{under}") >= 0}


def _make_diff(before: dict[str, str], after: dict[str, str]) -> str:
    """Make the diff of two trees."""
    parts = list[str]()
    for name in sorted(before.keys() | after.keys()):
        old_name = f"a/{name}" if name in before else "/dev/null"
        new_name = f"b/{name}" if name in after else "/dev/null"
        old, new = _split_lines(before.get(name, "")), _split_lines(after.get(name, ""))
        parts += difflib.unified_diff(old, new, old_name, new_name)
    return "".join(parts)


def _split_lines(text: str) -> list[str]:
    """Split at line ends alone, and end every line."""
    lines = text.replace("\r\n", "\n").split("\n")
    return [f"{line}\n" for line in (lines if lines[-1] else lines[:-1])]


def _print_review(pair: ReleasePair, diff: str, folder: Path) -> None:
    settings = Settings(database_url=f"sqlite:///{folder / 'runs.sqlite'}")
    outcome = asyncio.run(
        arun(
            "Review this change",
            team="code_review",
            materials={"change.diff": diff},
            settings=settings,
        )
    )
    assert outcome.answer is not None, outcome.error
    counts = Counter(finding.severity for finding in outcome.answer.findings)
    reported = [finding for report in outcome.results.values() for finding in report.findings]
    sure = [finding for finding in reported if (finding.confidence or 0) >= 80]
    shown = ", ".join(f"{count} {severity}" for severity, count in counts.items()) or "none"
    print(
        f"| {pair.package} {pair.before} → {pair.after} | {diff.count(chr(10)):,} lines "
        f"| {shown} | {len(sure) - len(outcome.answer.findings)} merged "
        f"| {len(reported) - len(sure)} hints held back | {_find_lowest_confidence(outcome)} "
        "lowest shown "
        f"| {outcome.timing['wall_s']:.1f} s | {pair.note} |"
    )
    for finding in outcome.answer.findings:
        by = "+".join(finding.reporters)
        place = f"{finding.file}:{finding.line}"
        print(f"    {finding.severity} {finding.confidence} {by} {place} {finding.message}")


def _find_lowest_confidence(outcome: Outcome) -> str:
    assert outcome.answer is not None, "there is an answer"
    everything = collect_findings(outcome.results.values(), min_confidence=80)
    assert everything == outcome.answer.findings
    known = (finding.confidence for finding in outcome.answer.findings)
    return str(min((each for each in known if each is not None), default="-"))


if __name__ == "__main__":
    main()
