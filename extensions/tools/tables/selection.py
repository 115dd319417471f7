"""Find a table among the materials of a task by its columns."""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated

from pydantic import Field

from extensions.tools.tables.reader import CsvTable, read_headers, read_table
from nodes.errors import ToolRefused
from nodes.tools.framework.argument_types import Format
from nodes.tools.framework.materials import resolve_material_name

FileNames = Annotated[
    tuple[Annotated[str, Format("file"), Field(max_length=300)], ...],
    Field(
        max_length=20,
        description="Materials to take where several have fitting columns; by default tables are "
        "found by their columns alone",
    ),
]


def find_table(
    materials: Mapping[str, str] | None,
    what: str,
    fits: Callable[[CsvTable], bool],
    files: Iterable[str] = (),
) -> CsvTable | None:
    """Return the table whose columns fit; of several, the one that is among the named files.

    Args:
        what: completes "a CSV material", such as "has columns of prices".

    Raises:
        ToolRefused: several fit, it cannot be read, or there is no file of a given name.
    """
    named = {resolve_material_name(name, materials) for name in files}
    fitting = [table.name for table in read_headers(materials) if fits(table)]
    chosen = [name for name in fitting if name in named] or fitting
    if len(chosen) > 1:
        raise ToolRefused(
            f"more than one CSV material {what}: {', '.join(chosen)}; name one of them in `files`"
        )
    return read_table(chosen[0], (materials or {})[chosen[0]]) if chosen else None


def require_table(
    materials: Mapping[str, str] | None,
    what: str,
    fits: Callable[[CsvTable], bool],
    files: Iterable[str] = (),
) -> CsvTable:
    """Do as `find_table`, and refuse if there is none.

    Raises:
        ToolRefused: as `find_table`; or no table fits.
    """
    found = find_table(materials, what, fits, files)
    if found is None:
        known = ", ".join(materials or {}) or "none"
        raise ToolRefused(f"no CSV material {what}; materials of this task: {known}")
    return found
