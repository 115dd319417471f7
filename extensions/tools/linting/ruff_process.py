"""Run ruff over Python texts, without any configuration."""

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ruff import find_ruff_bin  # type: ignore[import-untyped]

from nodes.limits.nesting import parse_json

TIMEOUT_S = 30.0
SYNTAX_CODE = "invalid-syntax"


@dataclass(frozen=True)
class RuffHit:
    """What ruff reports about a line."""

    file: str
    line: int
    code: str
    """The rule; `invalid-syntax` for text that is not Python."""
    message: str
    fix: str
    """What ruff would do about it; empty if it has no fix."""


def lint_files(texts: Mapping[str, str], rules: Sequence[str], *options: str) -> list[RuffHit]:
    """Return what ruff's rules find in Python texts by name; further options are ruff's own.

    `noqa` in a text counts, unless `--ignore-noqa` is among the options.

    Raises:
        RuntimeError: ruff cannot be used with these rules or options.
        subprocess.TimeoutExpired: it took too long.
    """
    if not texts or not rules:
        return []
    names = list(texts)
    with TemporaryDirectory(prefix="supervise-ruff-") as folder:
        write_sources(texts.items(), Path(folder))
        found = run_ruff(Path(folder), "--select", ",".join(rules), *options)
    return [
        RuffHit(
            names[get_source_index(hit["filename"])],
            hit["location"]["row"],
            hit.get("code") or SYNTAX_CODE,
            hit["message"],
            (hit.get("fix") or {}).get("message") or "",
        )
        for hit in found
    ]


def write_sources(texts: Iterable[tuple[str, str]], folder: Path) -> list[Path]:
    """Write texts with their names to a folder, under names of ours; return these."""
    paths = list[Path]()
    for index, (name, text) in enumerate(texts):
        paths.append(folder / f"f{index}{'.pyi' if name.endswith('.pyi') else '.py'}")
        paths[-1].write_text(text, encoding="utf-8", errors="replace")
    return paths


def get_source_index(path: str) -> int:
    """Return the place, counted from 0, of a text that `write_sources` wrote to a path."""
    return int(Path(path).stem[1:])


def run_ruff(folder: Path, *options: str) -> list[dict[str, Any]]:
    """Return ruff's results for the files of a folder, from its JSON output."""
    command = [
        *(find_ruff_bin(), "check", "--isolated", "--no-cache", "--exit-zero", "--quiet"),
        *("--output-format", "json", "--no-respect-gitignore", *options, "."),
    ]
    done = subprocess.run(
        command, cwd=folder, env={}, capture_output=True, timeout=TIMEOUT_S, check=False
    )
    if done.returncode:
        raise RuntimeError(f"ruff failed: {done.stderr.decode(errors='replace')[:300]}")
    hits: list[dict[str, Any]] = parse_json(done.stdout)
    return hits
