"""Reads the files of settings, each once, and chooses what counts of that of the current folder."""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Final

from dotenv.main import resolve_variables
from dotenv.parser import parse_stream

from graph.user_state import Decision, get_user_env_file, read_decision
from nodes.errors import SettingsInvalid

ENV_FILE: Final = ".env"
PART_OF_ENV_FILE: Final = f"part of {ENV_FILE}"
ENV_FILE_VARIABLE: Final = "SUPERVISE_ENV_FILE"
"""What `--env-file` sets; only the environment's own counts."""
MAX_BYTES: Final = 100_000
CHECKOUT: Final = Path(__file__).resolve().parents[1]
"""Where the running code is; its own `.env` counts."""


@dataclass(frozen=True)
class EnvFile:
    """A file of settings, as its bytes were when they were read once."""

    path: Path
    text: str = field(repr=False)
    digest: str
    """SHA-256 of the bytes."""

    def parse(self, *, replaces_variables: bool) -> dict[str, str]:
        """Return the variables; a line that is none is skipped.

        Args:
            replaces_variables: replace `${NAME}` by the environment's variable.
        """
        pairs = [(each.key, each.value) for each in parse_stream(StringIO(self.text)) if each.key]
        found = resolve_variables(pairs, override=True) if replaces_variables else dict(pairs)
        return {name: value or "" for name, value in found.items()}


@dataclass(frozen=True)
class SettingSources:
    """Where settings come from. Two are equal, whatever they hold: settings compare by values."""

    layers: Sequence[tuple[str, Mapping[str, str]]] = field(default=(), compare=False, repr=False)
    """What counts: the name of each source and its variables, the highest first."""
    folder_file: EnvFile | None = field(default=None, compare=False)
    """Of the current folder; None without one, or where all of it counts."""
    folder_variables: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """All of that file, whether they count or not."""
    decision: Decision = field(default="unknown", compare=False)
    ignored: tuple[str, ...] = field(default=(), compare=False)
    """Names of its settings that would change something and do not count."""
    problem: str = field(default="", compare=False)
    """Why the file of the current folder cannot be used."""

    @property
    def variables(self) -> dict[str, str]:
        """All variables that count, by their names."""
        return {name: value for _, layer in reversed(self.layers) for name, value in layer.items()}

    def list_files(self) -> list[str]:
        """List the files that set something, as the user would type them."""
        return [name for name, variables in self.layers[1:] if variables]

    def describe_ignored(self) -> str:
        """Return a line on what of the current folder's file does not count; empty if all does."""
        if self.problem:
            return f"{ENV_FILE} of this folder is ignored: {self.problem}"
        if not self.ignored:
            return ""
        names = ", ".join(self.ignored)
        return f"{self.describe_origin()}; ignored: {names}. next: read it, then supervise trust"

    def describe_origin(self) -> str:
        """Return why not all of the current folder's file counts."""
        has_changed = self.decision == "changed"
        why = "has changed since you trusted it" if has_changed else "is not trusted"
        return f"{ENV_FILE} of this folder {why}"

    def insert_folder(self, name: str, variables: Mapping[str, str]) -> "SettingSources":
        """Return these sources with variables of the current folder, above the user's own file."""
        *higher, own = self.layers
        return replace(self, layers=(*higher, (name, variables), own))


def read_sources(
    environment: Mapping[str, str], named: str | os.PathLike[str] | None
) -> SettingSources:
    """Return the sources, with the current folder's file only where all of it counts.

    Args:
        named: the file of `--env-file`.

    Raises:
        SettingsInvalid: a file that the user named, or the user's own one, cannot be used.
    """
    layers: list[tuple[str, Mapping[str, str]]] = [("the environment", environment)]
    for path in (*([Path(named).expanduser()] if named else ()), get_user_env_file()):
        try:
            found = read_env_file(path)
        except (OSError, ValueError) as error:
            raise SettingsInvalid(f"{path} cannot be used", cause=describe_error(error)) from None
        if found is None and path != get_user_env_file():
            raise SettingsInvalid(f"there is no file {path}", next="correct --env-file")
        parsed = found.parse(replaces_variables=True) if found else {}
        layers.append((shorten_path(path), parsed))
    sources = SettingSources(tuple(layers))
    try:
        file = read_env_file(Path.cwd() / ENV_FILE, stays_inside=True)
    except FileNotFoundError:  # the current folder was removed
        return sources
    except (OSError, ValueError) as error:
        return replace(sources, problem=describe_error(error))
    if file is None or file.path == get_user_env_file():
        return sources
    decision = read_decision(file.path, file.digest)
    if decision == "trusted" or file.path.parent == CHECKOUT:
        return sources.insert_folder(ENV_FILE, file.parse(replaces_variables=True))
    found_here = file.parse(replaces_variables=False)
    return replace(sources, folder_file=file, folder_variables=found_here, decision=decision)


def read_env_file(path: Path, *, stays_inside: bool = False) -> EnvFile | None:
    """Return a file of settings; None if there is none.

    Args:
        stays_inside: refuse a link that leads out of the file's folder.

    Raises:
        OSError, ValueError: it cannot be used.
    """
    folder = path.parent.resolve()
    try:
        target = Path(os.path.realpath(path, strict=True))
    except (FileNotFoundError, NotADirectoryError, PermissionError):  # or of a folder above
        return None
    if stays_inside and not target.is_relative_to(folder):
        raise ValueError("it is a link to another folder")
    with open(target, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is not a regular file")
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES:,} bytes")
    if b"\0" in data:
        raise ValueError("it holds a NUL byte")
    return EnvFile(folder / path.name, data.decode("utf-8-sig"), sha256(data).hexdigest())


def _open_at_once(path: str, flags: int) -> int:
    """Open a file, and do not wait for the writer of a FIFO."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def describe_error(error: OSError | ValueError) -> str:
    """Return why a file cannot be used."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    return getattr(error, "strerror", None) or str(error)


def shorten_path(path: Path) -> str:
    """Return a path as the user would type it."""
    try:
        places = ((Path.cwd(), ""), (Path.home(), "~/"))
    except (OSError, RuntimeError):  # one of them is unknown
        return str(path)
    found = (f"{sign}{path.relative_to(at)}" for at, sign in places if path.is_relative_to(at))
    return next(found, str(path))
