"""Reads YAML, alone or as front matter of a Markdown page, with the line of each value."""

import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml
from frontmatter.default_handlers import YAMLHandler

MAX_FILE_BYTES: Final = 256_000

YamlPath = tuple[str | int, ...]

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class FileProblem(Exception):
    """Why a file cannot be used, with the line if there is one."""

    def __init__(self, path: Path, text: str, line: int = 0) -> None:
        super().__init__(path, text, line)
        self.path, self.text, self.line = path, text, line

    def __str__(self) -> str:
        here = Path.cwd()
        path = self.path.relative_to(here) if self.path.is_relative_to(here) else self.path
        return f"{path}:{self.line}: {self.text}" if self.line else f"{path}: {self.text}"


@dataclass(frozen=True)
class YamlPage:
    """A file's YAML value, the lines of its parts, and the text below it."""

    path: Path
    value: Any
    lines: Mapping[YamlPath, int] = field(default_factory=dict)
    body: str = ""

    def build_problem(self, text: str, *place: str | int) -> FileProblem:
        """Build a problem of a part of the value, at the nearest known line."""
        while place and place not in self.lines:
            place = place[:-1]
        return FileProblem(self.path, text, self.lines.get(place, 1))


def read_page(path: Path, folder: Path) -> YamlPage:
    """Read Markdown that begins with front matter between two lines of `---`.

    Raises:
        FileProblem: the file cannot be read, or has no front matter.
    """
    text = read_text(path, folder)
    handler = YAMLHandler()
    if not handler.detect(text):
        raise FileProblem(path, "front matter missing: the first line must be '---'", 1)
    try:
        head, body = handler.split(text)
    except ValueError:
        raise FileProblem(path, "front matter has no end: close it with a line '---'", 1) from None
    skipped = text[: text.index(head)].count("\n")
    return _parse_yaml(path, "\n" * skipped + head, body.strip())


def read_yaml(path: Path, folder: Path) -> YamlPage:
    """Read a YAML file.

    Raises:
        FileProblem: the file cannot be read.
    """
    return _parse_yaml(path, read_text(path, folder), "")


def read_text(path: Path, folder: Path) -> str:
    """Read a text file inside a folder.

    Raises:
        FileProblem: the file cannot be read, is too large, or is a link out of the folder.
    """
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(folder.resolve()):
            raise FileProblem(path, "is a link to a place outside the folder")
        status = real.stat()
        if not stat.S_ISREG(status.st_mode):
            raise FileProblem(path, "is not a regular file")
        if status.st_size > MAX_FILE_BYTES:
            text = f"has {status.st_size:,} bytes, more than the limit of {MAX_FILE_BYTES:,}"
            raise FileProblem(path, text)
        text = real.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileProblem(path, f"is not UTF-8 (byte {error.start:,}); save it as UTF-8") from None
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "a loop of links"
        raise FileProblem(path, f"cannot be read: {reason}") from None
    if not text.strip():
        raise FileProblem(path, "is empty")
    return text.replace("\r\n", "\n")


def _parse_yaml(path: Path, text: str, body: str) -> YamlPage:
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        lines = dict(_walk_nodes(path, root, (), set())) if root else {}
        return YamlPage(path, loader.construct_document(root) if root else None, lines, body)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", column {mark.column + 1}" if mark else ""
        text = f"YAML syntax: {error.problem or error.context}{where}"
        raise FileProblem(path, text, _get_line_number(mark)) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise FileProblem(path, f"YAML cannot be read: {error}", 1) from None
    finally:
        loader.dispose()


def _walk_nodes(
    path: Path, node: yaml.Node, place: YamlPath, seen: set[int]
) -> Iterator[tuple[YamlPath, int]]:
    """Yield the line of each part; aliases are refused, since a few can expand to gigabytes."""
    if id(node) in seen:
        raise FileProblem(
            path, "YAML aliases (*name) are not allowed", _get_line_number(node.start_mark)
        )
    seen.add(id(node))
    yield place, _get_line_number(node.start_mark)
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _walk_nodes(path, item, (*place, index), seen)
    if isinstance(node, yaml.MappingNode):
        known: set[str] = set()
        for key, value in node.value:
            if key.value in known:
                raise FileProblem(
                    path, f"key {key.value!r} appears twice", _get_line_number(key.start_mark)
                )
            known.add(str(key.value))
            yield from _walk_nodes(path, value, (*place, str(key.value)), seen)
            yield (*place, str(key.value)), _get_line_number(key.start_mark)


def _get_line_number(mark: Any) -> int:
    return mark.line + 1 if mark else 1
