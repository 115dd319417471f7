"""Read course materials: the named one, or all that hold what is looked for."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, TypeVar

import yaml

from nodes.errors import ToolRefused
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.materials import resolve_material_name

MAX_TEXT_CHARS = 200_000
MAX_YAML_VALUES = 20_000
"""Limit on the values of a YAML file: a few aliases may expand to very many."""
TABLE_DIALECTS = {".csv": "excel", ".tsv": "excel-tab"}
YAML_SUFFIXES = (".yaml", ".yml", ".json")

ItemT = TypeVar("ItemT")


def read_sources(
    material: str,
    materials: Mapping[str, str],
    read: Callable[[str, str], Sequence[ItemT]],
    *,
    is_complete: Callable[[Sequence[ItemT]], bool] = bool,
) -> tuple[list[ItemT], list[str]]:
    """Return the items of the named material, else of all that hold some.

    Returns:
        The items, and which tables and data files could not be read.

    Raises:
        ToolRefused: there is no material of that name, or it cannot be read.
    """
    if material:
        name = resolve_material_name(material, materials)
        return list(read(name, materials[name])), []
    items, failures = list[ItemT](), list[str]()
    for name, text in materials.items():
        try:
            found = read(name, text)
        except ToolRefused as refusal:
            if get_suffix(name) in (*TABLE_DIALECTS, *YAML_SUFFIXES):
                failures.append(f"{name} was not read: {refusal}")
        else:
            items += found if is_complete(found) else []
    return items, failures


def get_suffix(name: str) -> str:
    return PurePosixPath(name.lower()).suffix


def check_length(name: str, text: str) -> None:
    """Raise ToolRefused if a material is too long."""
    if len(text) > MAX_TEXT_CHARS:
        raise ToolRefused(f"{name} has {len(text)} characters, of at most {MAX_TEXT_CHARS}")


def read_table_rows(name: str, text: str) -> Iterator[list[str]]:
    """Yield the rows of a CSV or TSV file.

    Raises:
        ToolRefused: its syntax is invalid.
    """
    try:
        yield from csv.reader(io.StringIO(text), TABLE_DIALECTS[get_suffix(name)])
    except csv.Error as error:
        raise ToolRefused(f"{name} cannot be read: {error}; fix its syntax") from None


def read_yaml(name: str, text: str) -> Any:  # any YAML value
    """Return the value of a YAML or JSON file.

    Raises:
        ToolRefused: its syntax is invalid.
    """
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = sanitize_line(str(error), 120)
        raise ToolRefused(f"{name} cannot be read: {reason}; fix its syntax") from None
