"""What an untrusted folder's `.env` may set: what cannot send, run, or read elsewhere."""

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from graph.setting_sources import PART_OF_ENV_FILE, SettingSources, read_sources
from nodes.errors import SettingsInvalid
from nodes.models.settings import DEFAULT_OUTPUT_TOKENS, EMBEDDED


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
