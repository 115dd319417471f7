"""Copy the code of a checkout into one importable package, `supervisor_worker`.

    python bin/one_package.py CHECKOUT FOLDER

The modules of `graph`, `nodes`, `extensions`, `teams` and `state` go under the package's name; each
import of one of them, and each string that is the name of one, is changed with them. Lines stay
where they are. `hatch_build.py` packs the package.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

PACKAGE: Final = "supervisor_worker"
FOLDERS: Final = ("extensions", "graph", "nodes", "teams")
"""Of a checkout; what is in its folder of the package's own name goes to the top."""
MODULES: Final = ("state",)
NOT_CODE: Final = {"sample", "my_team", "my_app"}
"""Folders whose Python files are input of a team, or an example that is copied into a project."""
NOT_PACKED: Final = (
    "__pycache__",
    "*.pyc",
    ".*_cache",
    ".supervise*",
    ".langgraph_api",
    ".env*",
)
"""Names of files and folders, except `.env.example`: what a program or a user leaves there."""
_NAME: Final = re.compile(r"(\w+(?:\.\w+)+)(?:\.|:\w+)?")
"""A module; with a dot at its end what names of modules begin with, which f-strings may not."""


class NotMovable(Exception):
    """A statement that cannot be written for the package; the message has its place."""


def build_package(checkout: Path, folder: Path) -> Path:
    """Write the package into a folder and return its path.

    Raises:
        NotMovable: an import binds the first part of a dotted name, or a string is not plain.
    """
    package = folder / PACKAGE
    known = set(list_modules(checkout))
    for path in list_files(checkout):
        place = path.relative_to(checkout)
        copy = folder / place if place.parts[0] == PACKAGE else package / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    (package / "py.typed").touch()
    for path in sorted(package.rglob("*.py")):
        if NOT_CODE.isdisjoint(path.relative_to(package).parts):
            text = path.read_text(encoding="utf-8")
            path.write_text(move_source(text, known, str(path)), encoding="utf-8")
    return package


def list_files(checkout: Path) -> Iterator[Path]:
    """Yield the files of the package: of a git checkout those that git knows, else all.

    Raises:
        subprocess.CalledProcessError: git cannot list them.
    """
    places = [PACKAGE, *FOLDERS, *(f"{name}.py" for name in MODULES)]
    if (checkout / ".git").exists():
        command = ["git", "-C", str(checkout), "ls-files", "-z", "--", *places]
        listed = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        found = [checkout / os.fsdecode(name) for name in listed.split(b"\0") if name]
    else:
        found = [
            path
            for place in places
            for path in ((checkout / place), *(checkout / place).rglob("*"))
        ]
    for path in found:
        if path.is_file() and not any(map(_is_left_out, path.relative_to(checkout).parts)):
            yield path


def _is_left_out(name: str) -> bool:
    return name != ".env.example" and any(fnmatch(name, each) for each in NOT_PACKED)


def list_modules(checkout: Path) -> Iterator[str]:
    """Yield the dotted name of each module and package that goes under the package's name."""
    yield from (*MODULES, *FOLDERS)
    for name in FOLDERS:
        for path in (checkout / name).rglob("*.py"):
            parts = path.relative_to(checkout).with_suffix("").parts
            for end in range(2, len(parts) + 1):
                yield ".".join(parts[:end]).removesuffix(".__init__")


def move_source(text: str, known: set[str], place: str = "") -> str:
    """Return a module's source with the names of modules as they are in the package.

    Args:
        known: the modules that go into the package.

    Raises:
        NotMovable: `import graph.cli` binds `graph`, which has another name in the package; or a
            name is not where it should be, as in triple quotes and f-strings.
    """
    lines = text.encode().splitlines(keepends=True)
    for line, start, old, new in sorted(_find_changes(ast.parse(text), known, place), reverse=True):
        before, end = lines[line - 1], start + len(old.encode())
        if before[start:end] != old.encode():
            raise NotMovable(f"{place}:{line}: write `{old}` in one piece and one pair of quotes")
        lines[line - 1] = before[:start] + new.encode() + before[end:]
    return b"".join(lines).decode()


def _find_changes(
    tree: ast.Module, known: set[str], place: str
) -> Iterator[tuple[int, int, str, str]]:
    """Yield a line, the first byte of it that is replaced, what is there, and what replaces it."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(name), level=0) if name.split(".")[0] in known:
                start = node.col_offset + len("from ")
                yield node.lineno, start, name, f"{PACKAGE}.{name}"
            case ast.Import(names=names) if any(each.name.split(".")[0] in known for each in names):
                name = names[0].name
                if len(names) > 1 or ("." in name and not names[0].asname):
                    raise NotMovable(f"{place}:{node.lineno}: write `from … import …`")
                start, (above, _, last) = node.col_offset, f"{PACKAGE}.{name}".rpartition(".")
                yield node.lineno, start, f"import {name}", f"from {above} import {last}"
            case ast.Constant(value=str(text)) if node.lineno == node.end_lineno:
                named = _NAME.fullmatch(text)
                if named and named[1] in known and node.end_col_offset:
                    start = node.end_col_offset - len(text.encode()) - 1
                    yield node.lineno, start, text, f"{PACKAGE}.{text}"


if __name__ == "__main__":
    build_package(*map(Path, sys.argv[1:]))
