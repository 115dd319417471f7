"""What the Python files of a team may do, as far as reading them shows; none is imported.

Each name that a file uses is followed to the module that it comes from, by the syntax tree. This
is no proof: a program can make names while it runs. Where it does, that is an ability of its own.
"""

import ast
import io
import sys
import tokenize
from functools import cache
from pathlib import Path
from typing import Final

import yaml
from pydantic import BaseModel, Field

WRITES: Final = "write or delete files"
READS: Final = "read files"
VARIABLES: Final = "read environment variables"
DYNAMIC: Final = "run code that is made or found at run time"
CLOSED: Final = "do anything, as it cannot be read"
UNREADABLE: Final = frozenset((DYNAMIC, CLOSED))  # reading does not show all that is done


@cache
def _read_table(part: str) -> dict[str, str]:
    """Return the abilities of a part of `abilities.yaml`, by name."""
    text = Path(__file__).with_name("abilities.yaml").read_text(encoding="utf-8")
    table = yaml.safe_load(text)[part]
    return {name: ability for ability, listed in table.items() for name in listed.split()}


_OPENERS: Final = ("open", "io.open", "codecs.open")
_GETTERS: Final = ("get", "pop", "setdefault", "__getitem__")
ALL_VARIABLES: Final = "all variables"


class PythonFile(BaseModel):
    """What reading one file shows."""

    lines: int = 0
    abilities: dict[str, int] = Field(default_factory=dict)
    """With the first line that shows each."""
    packages: list[str] = Field(default_factory=list)
    """First parts of modules that are neither Python's, nor this program's, nor the team's."""
    variables: list[str] = Field(default_factory=list)
    """Names of environment variables, or `ALL_VARIABLES`."""


def read_python(source: bytes) -> PythonFile:
    """Return what a file may do; one that cannot be parsed may do anything."""
    lines = source.count(b"\n") + bool(source.rpartition(b"\n")[2])
    try:
        if tokenize.detect_encoding(io.BytesIO(source).readline)[0] not in ("utf-8", "utf-8-sig"):
            raise ValueError("another encoding hides what is written")
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return PythonFile(lines=lines, abilities={CLOSED: 1})
    reader = _Reader()
    for node in ast.walk(tree):  # names first: a function may use what is imported below it
        reader.read_binding(node)
    for node in ast.walk(tree):
        reader.read_use(node)
    found = {"packages": sorted(reader.packages), "variables": sorted(reader.variables)}
    return PythonFile(lines=lines, abilities=dict(sorted(reader.abilities.items())), **found)


class _Reader:
    def __init__(self) -> None:
        self.abilities = dict[str, int]()
        self.packages, self.variables = set[str](), set[str]()
        self._origins = dict[str, str]()
        """What a name of the file is: after `from os import path` it is `os.path`."""
        self._modules = set[str]()
        """Names that are modules."""
        self._seen = set[int]()
        """Nodes of modules of which a part is used, and of variables that are read by name."""

    def read_binding(self, node: ast.AST) -> None:
        """Keep what a name is bound to, and what is imported."""
        match node:
            case ast.Import(names=names):
                for each in names:
                    bound = each.asname or each.name.partition(".")[0]
                    self._origins[bound] = each.name if each.asname else bound
                    self._modules.add(bound)
                    self._add_module(each.name, node)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                self._add_module(module, node)
                for each in names:
                    whole = f"{module}.{each.name}"
                    self._origins[each.asname or each.name] = whole
                    self._add_name(whole, node)
            case ast.Assign(targets=[ast.Name(id=bound)], value=ast.Name() | ast.Attribute()):
                if (name := self._name(node.value)).partition(".")[0] in self._modules:
                    self._origins[bound] = name
                    self._seen.add(id(node.value))
            case ast.Attribute(value=ast.Name() as holder):
                self._seen.add(id(holder))

    def read_use(self, node: ast.AST) -> None:
        """Keep what a part of the tree may do."""
        match node:
            case ast.Call():
                self._read_call(node, self._name(node.func))
            case ast.Subscript(value=value, slice=ast.Constant(value=str(name))):
                self._read_name(value, name)
            case ast.Attribute(attr=name):
                self._add(_read_table("attributes").get(name), node)
                self._read_name(node)
            case ast.Name(id=name) if name not in self._origins:
                self._add(_read_table("builtins").get(name), node)
            case ast.Name(id=name) if id(node) not in self._seen:
                self._add(DYNAMIC if name in self._modules else None, node)  # given to something
                self._read_name(node)

    def _read_call(self, node: ast.Call, name: str) -> None:
        if name in _OPENERS or name.endswith(".open"):
            self._add(WRITES if _may_write(node, 1 if name in _OPENERS else 0) else READS, node)
        match node.args:
            case [_, ast.Constant(value=str(attribute)), *_] if attribute[:2] != "__":
                pass
            case _ if name in ("getattr", "setattr", "delattr"):
                self._add(DYNAMIC, node)
            case [ast.Constant(value=str(variable)), *_]:
                holder = node.func
                if isinstance(holder, ast.Attribute) and holder.attr in _GETTERS:
                    holder = holder.value
                self._read_name(holder, variable)

    def _read_name(self, node: ast.expr, variable: str = "") -> None:
        """Keep what a name may do; of all variables, the one that is read."""
        name, is_settings = self._name(node), getattr(node, "attr", "") == "variables"
        if not is_settings and name not in _read_table("environment"):
            self._add_name("" if variable else name, node)
        elif variable or id(node) not in self._seen:
            self._seen.add(id(node))
            self._add(VARIABLES, node)
            self.variables.add(variable[:100] or ALL_VARIABLES)

    def _add_module(self, module: str, node: ast.AST) -> None:
        self._add_name(module, node)
        self.packages |= (
            {module.partition(".")[0]} - sys.stdlib_module_names - set(_read_table("own"))
        )

    def _add_name(self, name: str, node: ast.AST) -> None:
        """Keep what the longest known beginning of a dotted name may do."""
        parts = name.split(".")
        starts = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
        table, beginnings = _read_table("modules"), _read_table("beginnings").items()
        known = [table[each] for each in starts if each in table]
        known += [each for start, each in beginnings if name.startswith(start)]
        self._add(DYNAMIC if parts[-1] == "*" else next(iter(known), None), node)

    def _add(self, ability: str | None, node: ast.AST) -> None:
        line = getattr(node, "lineno", 1)
        if ability:
            self.abilities[ability] = min(line, self.abilities.get(ability, line))

    def _name(self, node: ast.expr) -> str:
        """Return an expression's dotted name from where it is imported; else `.attribute`."""
        parts = list[str]()
        while (
            isinstance(node, ast.Attribute) and len(parts) < 6
        ):  # long chains end nowhere that is known
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and (node.id in self._origins or not parts):
            return ".".join((self._origins.get(node.id, node.id), *reversed(parts)))
        return f".{parts[0]}" if parts else ""


def _may_write(node: ast.Call, place: int) -> bool:
    """Return whether a call of `open` may write: its mode says so, or is not written out."""
    given = [each.value for each in node.keywords if each.arg == "mode"]
    given += node.args[place : place + 1]
    modes = [str(each.value) if isinstance(each, ast.Constant) else "+" for each in given]
    has_spread = any(isinstance(each, ast.Starred) for each in node.args)
    return has_spread or any(not set("wax+").isdisjoint(mode) for mode in modes)
