"""Where settings come from: the files, each read once; of an untrusted folder's what cannot send,
run, or read elsewhere; and the names of settings.
"""

import logging
import os
import stat
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any, Final, Protocol

from dotenv.main import resolve_variables
from dotenv.parser import parse_stream
from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from graph.user_state import Decision, get_user_env_file, read_decision
from nodes.errors import SettingsInvalid
from nodes.models.settings import DEFAULT_OUTPUT_TOKENS, EMBEDDED

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


def describe_setting_problem(error: ErrorDetails, fields: Mapping[str, FieldInfo]) -> str:
    """Return what is wrong with a setting, and what is allowed."""
    name = str(error["loc"][0]) if error["loc"] else "a setting"
    field = fields.get(name) or next(
        (f for f in fields.values() if name in _list_aliases(f.validation_alias)), None
    )
    allowed = f"; allowed: {field.description}" if field and field.description else ""
    if error["type"] == "value_error":
        return f"{name} {error['ctx']['error']}{allowed}"
    quoted = isinstance(error["input"], str | int | float) and "KEY" not in name
    shown = f" is {str(error['input'])[:80]!r}" if quoted else " is not valid"
    return f"{name}{shown}{allowed}"


def map_variables(fields: Mapping[str, FieldInfo]) -> dict[str, str]:
    """Return the fields by the names of the variables that they are read from."""
    return {
        str(name): field_name
        for field_name, field in fields.items()
        for name in _list_aliases(field.validation_alias)
        if not field.exclude
    }


def list_variables(fields: Mapping[str, FieldInfo]) -> frozenset[str]:
    """Return the names of the variables that fields are read from."""
    return frozenset(map_variables(fields))


def _list_aliases(alias: object) -> tuple[object, ...]:
    return tuple(alias.choices) if isinstance(alias, AliasChoices) else (alias,)


VARIABLE_PREFIX: Final = "SUPERVISE_"
CHECKOUT_VARIABLES: Final = frozenset(
    {
        "SUPERVISE_TEST_CONTRACTS",
        "SUPERVISE_TEST_AEGRA_PYTHON",
        "SUPERVISE_TEST_POSTGRES_URL",
        "SUPERVISE_REAL_GGUF",
    }
)
"""What the tests of a checkout read, besides the settings."""


def find_unknown_names(given: Iterable[str], settings: Collection[str]) -> dict[str, str]:
    """Return the names with our prefix that nothing reads, each with the nearest setting or ""."""
    known = {name.removeprefix(VARIABLE_PREFIX): name for name in settings}
    unknown = sorted({*given} - {*settings} - CHECKOUT_VARIABLES)
    named = [name for name in unknown if name.startswith(VARIABLE_PREFIX)]
    near = {
        name: get_close_matches(name.removeprefix(VARIABLE_PREFIX), known, n=1) for name in named
    }
    return {name: known[found[0]] if found else "" for name, found in near.items()}


def describe_unknown_name(name: str, near: str) -> str:
    """Return one line about a name that nothing reads.

    Args:
        near: the setting that may be meant; empty without one.
    """
    advice = f"did you mean {near}?" if near else "`supervise doctor` lists such names"
    return f"warning: {name} is not a setting and is ignored; {advice}"


class _Settings(Protocol):
    """What the rules need of `Settings`, which needs this module."""

    def resolve_model(self, tier: Any) -> str:  # a `Tier`
        ...


Build = Callable[[SettingSources], _Settings]
Rule = Callable[[_Settings, _Settings, str], bool]
"""Returns whether a field's value may replace the one that counts without the file."""


def _is_lower(new: _Settings, old: _Settings, name: str) -> bool:
    limit = getattr(old, name)
    return limit is None or bool(getattr(new, name) < limit)


def _is_sooner(new: _Settings, old: _Settings, name: str) -> bool:
    """Return whether a time limit is lower; 0 is none."""
    given, limit = getattr(new, name), getattr(old, name)
    return bool(given) and (not limit or given < limit)


def _is_lower_for_all(new: _Settings, old: _Settings, name: str) -> bool:
    given, limits = getattr(new, name), getattr(old, name)
    return given.keys() >= limits.keys() and all(
        limit <= limits.get(use, DEFAULT_OUTPUT_TOKENS) for use, limit in given.items()
    )


def _is_off_or_unset(new: _Settings, old: _Settings, name: str) -> bool:
    return getattr(new, name) is False or getattr(old, name) is None


def _is_inside(new: _Settings, old: _Settings, name: str) -> bool:
    folder: Path = getattr(new, name)
    return folder.is_dir() and folder.resolve().is_relative_to(Path.cwd().resolve())


def _has_same_provider(new: _Settings, old: _Settings, name: str) -> bool:
    """Return whether a model is of the provider in use; a name with `/` has a provider in it."""
    tier = name.removeprefix("model_")
    wanted, used = (each.resolve_model(tier).partition(":") for each in (new, old))
    return wanted[0] == used[0] != EMBEDDED and "/" not in wanted[2]


ALLOWED: Final[Mapping[str, Rule]] = {
    "model_fast": _has_same_provider,
    "model_standard": _has_same_provider,
    "model_strong": _has_same_provider,
    "max_concurrency": _is_lower,
    "requests_per_minute": _is_lower,
    "tokens_per_minute": _is_lower,
    "call_timeout_s": _is_lower,
    "deadline_s": _is_sooner,
    "max_output_tokens": _is_lower_for_all,
    "stream": _is_off_or_unset,
    "speculate": _is_off_or_unset,
    "documents": _is_inside,
}
"""By field. Every other setting counts only from a source that the user trusts.

A repository is not among these: its `.git` may refer to another one.
"""
_reported: Final[set[str]] = set()
_logger = logging.getLogger(__name__)


def find_sources(
    environment: Mapping[str, str],
    named: str | os.PathLike[str],
    fields: Mapping[str, str],
    build: Build,
) -> SettingSources:
    """Return the sources of settings; log once what of the current folder's file is ignored.

    Args:
        named: the file of `--env-file`; empty without one.
        fields: the fields by the names of their variables, in lower case.
        build: returns the settings of some sources.

    Raises:
        SettingsInvalid: a file that the user named, or the user's own one, cannot be used.
    """
    sources = read_sources(environment, named)
    if sources.folder_file:
        part, ignored = _select_allowed(sources, fields, build)
        sources = replace(sources.insert_folder(PART_OF_ENV_FILE, part), ignored=ignored)
    if (line := sources.describe_ignored()) and line not in _reported:
        _reported.add(line)
        _logger.warning("%s", line)
    return sources


def _select_allowed(
    sources: SettingSources, fields: Mapping[str, str], build: Build
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the variables of the folder's file that count, and the names of the others.

    Names that set nothing of ours, or change nothing, are in neither.
    """
    old = build(sources)
    higher = {
        name.lower()
        for _, layer in sources.layers[:-1]
        for name, value in layer.items()
        if value.strip()
    }
    own = {name.lower(): value for name, value in sources.layers[-1][1].items()}
    given = {name.lower(): (name, value) for name, value in sources.folder_variables.items()}
    counted, ignored = {}, []
    for key, (name, value) in given.items():
        if key not in fields or key in higher or not value.strip() or own.get(key) == value:
            continue
        if _is_allowed(fields[key], old, partial(build, sources.insert_folder("", {name: value}))):
            counted[name] = value
        else:
            ignored.append(name.upper())
    return counted, tuple(ignored)


def _is_allowed(field: str, old: _Settings, build: Callable[[], _Settings]) -> bool:
    if field not in ALLOWED:
        return False
    try:
        new = build()
        return bool(getattr(new, field) == getattr(old, field)) or ALLOWED[field](new, old, field)
    except (SettingsInvalid, OSError, RuntimeError, ValueError):  # also of a path that cannot be
        return False
