"""Prove that a clone works on a machine that has nothing but git and Python.

    python3 tests/benchmarks/fresh_machine.py
        [--python PATH]... [--installer pip|uv]... [--first supervise|test]... [--whole]

Each row is a new clone of what is committed, with an empty environment but for HOME, PATH, how
packages are found (pip's and uv's settings, proxies, certificates). Both commands are called, in
either order: `bin/supervise run` with a small request, and `bin/test` on two files of tests, which
need what all the others need; with `--whole`, the first clone of each Python runs all quick tests.
pip is the one that `venv` brings; uv is the one on PATH.
The caches of pip and uv are used. It needs only the standard library.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MINORS = ("3.11", "3.12", "3.13")
COMMANDS: Mapping[str, Sequence[str]] = {
    "supervise": (
        "bin/supervise",
        "run",
        "Compare the market capitalization of the top 3 cloud providers",
        "--file",
        "teams/market_analysis/sample",
    ),
    "test": ("bin/test", "tests/unit/test_layers.py", "tests/unit/test_timing.py"),
}
KEPT_VARIABLES = re.compile(
    r"(?i)^(PIP|UV)_|_proxy$|^(SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE)$"
)
SET_UP_END = "\n  done in "
"""Ends what `bin/` says while it sets up."""
HANG_S = 1800.0


@dataclass(frozen=True)
class CloneRow:
    """One clone: by what it is set up, and which command comes first."""

    python: str
    installer: str
    first_command: str
    is_whole: bool = False
    """Whether all quick tests are run."""

    @property
    def list_commands(self) -> list[str]:
        """Return the names of both commands, in order."""
        return sorted(COMMANDS, key=lambda name: name != self.first_command)


@dataclass(frozen=True)
class CommandResult:
    """What a command came to."""

    code: int
    seconds: float
    silence_s: float | None
    """The longest while it was setting up; None when there was nothing to set up."""
    output: str


def main() -> int:
    """Print a row for each combination; return 1 when a command failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--python", action="append", help="may be repeated; those found without")
    parser.add_argument("--installer", action="append", choices=["pip", "uv"])
    parser.add_argument("--first", action="append", choices=list(COMMANDS))
    parser.add_argument("--whole", action="store_true", help="run all quick tests of each Python")
    given = parser.parse_args()
    pythons = [shutil.which(each) or each for each in given.python or _list_pythons()]
    installers = given.installer or ["pip", *(["uv"] if shutil.which("uv") else [])]
    ways = list(product(installers, given.first or COMMANDS))
    rows = [
        CloneRow(python, *way, is_whole=given.whole and way == ways[0])
        for python in pythons
        for way in ways
    ]
    if not rows:
        print(f"no Python of {', '.join(MINORS)} was found: name one with --python")
        return 1
    print(f"{len(rows)} clones of {_read_commit()}", flush=True)
    print("| Python | installer | first command | second command |\n|---|---|---|---|", flush=True)
    failures = [failed for row in rows if (failed := _run_row(row))]
    for failure in failures:
        print(f"\n{failure}")
    return 1 if failures else 0


def _run_row(row: CloneRow) -> str:
    """Run a row, print it, and return what failed; empty when nothing did."""
    with tempfile.TemporaryDirectory(prefix="fresh-") as folder:
        checkout = Path(folder) / "clone"
        _copy_checkout(checkout)
        ended = [_run_command(row, name, checkout) for name in row.list_commands]
    cells = [_format_cell(name, each) for name, each in zip(row.list_commands, ended, strict=True)]
    print(
        f"| {' | '.join([_read_version(row.python), _read_installer_release(row), *cells])} |",
        flush=True,
    )
    failed = next((each for each in ended if each.code), None)
    return f"{row}:\n{failed.output[-4000:]}" if failed else ""


def _copy_checkout(checkout: Path) -> None:
    """Clone what is committed; where the checkout is no repository of this user, copy its files."""
    clone = ["git", "clone", "-q", str(ROOT), str(checkout)]
    if subprocess.run(clone, stderr=subprocess.DEVNULL, check=False).returncode == 0:
        return
    left_out = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".supervise")
    shutil.copytree(ROOT, checkout, symlinks=True, ignore=left_out)


def _run_command(row: CloneRow, name: str, checkout: Path) -> CommandResult:
    began = last = time.monotonic()
    silence, text = 0.0, ""
    is_set_up = False
    command = COMMANDS[name][:1] if row.is_whole and name == "test" else COMMANDS[name]
    process = subprocess.Popen(
        command,
        cwd=checkout,
        env=_build_environment(row),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout
    while part := os.read(process.stdout.fileno(), 65536):
        now = time.monotonic()
        silence, last = silence if is_set_up else max(silence, now - last), now
        text += part.decode(errors="replace")
        is_set_up = is_set_up or SET_UP_END in text
    code, seconds = process.wait(HANG_S), time.monotonic() - began
    return CommandResult(code, seconds, silence if is_set_up else None, text)


def _format_cell(name: str, ended: CommandResult) -> str:
    verdict = f"exit code {ended.code}" if ended.code else "ok"
    set_up = ended.silence_s is not None
    silent = f", set-up silent for {ended.silence_s:.0f} s at most" if set_up else ""
    return f"`bin/{name}` {verdict} in {ended.seconds:.0f} s{silent}"


def _build_environment(row: CloneRow) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if KEPT_VARIABLES.search(name)}
    folders = os.environ["PATH"].split(os.pathsep)
    without_uv = [folder for folder in folders if not (Path(folder) / "uv").exists()]
    uv = shutil.which("uv")
    found = [str(Path(uv).parent), *without_uv] if row.installer == "uv" and uv else without_uv
    more = {"PATH": os.pathsep.join(found), "HOME": str(Path.home()), "PYTHON": row.python}
    return {**kept, **more}


def _list_pythons() -> Iterator[str]:
    """Find an interpreter of each release, on PATH or where pyenv keeps its own, and the system's.

    A distribution's own differs from others of its release: Debian 12 has 3.11.2.
    """
    found = []
    for minor in MINORS:
        homes = sorted((Path.home() / ".pyenv" / "versions").glob(f"{minor}.*/bin/python3"))
        first = next(map(str, homes), None) or shutil.which(f"python{minor}")
        found += [
            first,
            *(str(path) for path in [Path(f"/usr/bin/python{minor}")] if path.exists()),
        ]
    yield from {os.path.realpath(each): each for each in found if each}.values()


def _read_version(python: str) -> str:
    return _read_output(python, "--version").removeprefix("Python ")


def _read_installer_release(row: CloneRow) -> str:
    """Return the installer with its release: of pip, the one that a new environment gets."""
    if row.installer == "uv":
        return " ".join(_read_output("uv", "--version").split()[:2])
    return f"pip {_read_output(row.python, '-c', 'import ensurepip; print(ensurepip.version())')}"


def _read_commit() -> str:
    status = subprocess.run(
        _build_git_command("status", "-s"), capture_output=True, text=True, check=False
    )
    if status.returncode:
        return "the files here"
    changed = " (what is not committed is not in it)" if status.stdout.strip() else ""
    return f"{_read_output(*_build_git_command('rev-parse', '--short', 'HEAD'))}{changed}"


def _build_git_command(*arguments: str) -> list[str]:
    return ["git", "-C", str(ROOT), *arguments]


def _read_output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
