"""Read course materials: the named one, or all that hold what is looked for."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from nodes.errors import ToolRefused
from nodes.text.csv_table import is_table_name
from nodes.tools.framework.materials import resolve_material_name

MAX_TEXT_CHARS = 200_000

ItemT = TypeVar("ItemT")


def read_sources(
    material: str,
    materials: Mapping[str, str],
    read: Callable[[str, str], Sequence[ItemT]],
) -> tuple[list[ItemT], list[str]]:
    """Return the items of the named material, else of all that hold some.

    Returns:
        The items, and which tables could not be read.

    Raises:
        ToolRefused: there is no material of that name, or it cannot be read.
    """
    if material:
        name = resolve_material_name(material, materials)
        return _read_source(name, materials[name], read), []
    items, failures = list[ItemT](), list[str]()
    for name, text in materials.items():
        try:
            items += _read_source(name, text, read)
        except ToolRefused as refusal:
            if is_table_name(name):
                failures.append(f"{name} was not read: {refusal}")
    return items, failures


def _read_source(name: str, text: str, read: Callable[[str, str], Sequence[ItemT]]) -> list[ItemT]:
    if len(text) > MAX_TEXT_CHARS:
        raise ToolRefused(f"{name} has {len(text)} characters, of at most {MAX_TEXT_CHARS}")
    return list(read(name, text))
