"""Reads YAML, alone or as front matter of Markdown, with lines, and the keys that it may hold."""

import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import yaml
from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from frontmatter.default_handlers import YAMLHandler
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from nodes.limits.patterns import Pattern
from nodes.models.settings import read_parameters
from nodes.schemas.team import DeclaredAccess, Limits, Role, Team, Worker
from nodes.text.plain_text import to_one_line
from state import LadderRung

MAX_FILE_BYTES: Final = 256_000
MAX_YAML_LEVELS: Final = 100
"""The loader calls itself for each: from about 20,000 on it ends the process."""

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
    _require_shallow(path, text)
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


def _require_shallow(path: Path, text: str) -> None:
    """Raise FileProblem if a text nests its parts too deeply; what cannot be read is left."""
    if sum(map(text.count, "[{-?")) <= MAX_YAML_LEVELS:
        return  # indentation alone takes a line for each level
    level = 0
    with suppress(yaml.YAMLError):
        for event in yaml.parse(text, Loader=_Loader):
            level += isinstance(event, yaml.CollectionStartEvent)
            level -= isinstance(event, yaml.CollectionEndEvent)
            if level > MAX_YAML_LEVELS:
                raise FileProblem(
                    path, "YAML is nested too deeply", _get_line_number(event.start_mark)
                )


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


_STRICT_CONFIG: Final = ConfigDict(strict=True, extra="forbid")
_TAKEN: Final = Pattern(
    r"(?i)url|key|header|endpoint|base|client|callback|kwargs|proxy|transport|auth|secret|cache"
    r"|extra_|(?:^|_)token$|metadata|retries|timeout|region|project|credential"
)
"""In the name of a parameter: it may lead a request, and a user's key, somewhere else."""


def _read_parameters(value: Any) -> dict[str, Any]:
    """Return the parameters of a team's or a worker's requests.

    Raises:
        ValueError: the application sets one itself, or one is not a team's to set.
    """
    parameters = read_parameters(value)
    if refused := [name for name in parameters if _TAKEN.search(str(name))]:
        raise ValueError(f"has {refused[0]!r}, which belongs into the user's settings")
    return parameters


Parameters = Annotated[dict[str, Any], AfterValidator(_read_parameters)]
"""Parameters of a request to a model, such as `temperature` and `seed`."""
_NonEmptyText = Annotated[str, Field(min_length=1)]


def _copy_fields(model: type[BaseModel], *names: str) -> dict[str, Any]:
    return {name: (model.model_fields[name].annotation, model.model_fields[name]) for name in names}


TeamKeys: Final[type[BaseModel]] = create_model(
    "TeamKeys",
    __config__=_STRICT_CONFIG,
    description=(_NonEmptyText, ...),
    ladder=(list[LadderRung], Field(default_factory=list)),
    **_copy_fields(Team, "synthesis", "notice", "contact", "planner_tier", "synthesizer_tier"),
    **_copy_fields(Team, "generalist"),
    parameters=(dict[Role, Parameters], Field(default_factory=dict)),
    **_copy_fields(Team, "max_tasks", "max_depth", "max_steps", "max_attempts", "max_plan_repairs"),
    **_copy_fields(Team, "deadline_s", "max_cost_usd", "max_tokens"),
    **_copy_fields(Team, "strategy", "routes", "plan_when_needed", "prefer_idle"),
    **_copy_fields(Team, "max_revisions", "max_stalls", "approve_plan", "approve_above"),
    **_copy_fields(Team, "max_plan_reviews", "min_confidence"),
    **_copy_fields(Team, "judge", "judge_tier", "min_finding_confidence", "max_synthesis_chars"),
    **_copy_fields(Team, "critic", "critic_below", "max_critic_rounds"),
    **_copy_fields(Team, "max_recursion", "max_breadth", "recruit", "recruit_tier", "max_recruits"),
    grant=(list[_NonEmptyText], Field(default_factory=list)),
    access=(dict[str, DeclaredAccess], Field(default_factory=dict)),
    approve=(list[_NonEmptyText], Field(default_factory=list)),
)
LIMIT_KEYS: Final = ("max_turns", "timeout_s", "max_tokens")
WorkerKeys: Final[type[BaseModel]] = create_model(
    "WorkerKeys",
    __config__=_STRICT_CONFIG,
    tools=(list[_NonEmptyText], Field(default_factory=list)),
    **_copy_fields(
        Worker, "description", "keywords", "tier", "fallback", "hands_over", "notice", "tiers"
    ),
    parameters=(Parameters, Field(default_factory=dict)),
    reads_all=(list[_NonEmptyText], Field(default_factory=list)),
    needs=(list[_NonEmptyText], Field(default_factory=list)),
    team=(str, ""),
    remote=(str, ""),
    graph=(str, ""),
    a2a=(str, ""),
    headers=(dict[str, str], Field(default_factory=dict)),
    access=(dict[str, Any], Field(default_factory=dict)),
    **_copy_fields(Limits, *LIMIT_KEYS),
)


def read_keys(keys: type[BaseModel], page: YamlPage) -> tuple[dict[str, Any], list[FileProblem]]:
    """Return the front matter's valid values, and the problems of the others."""
    if not isinstance(page.value, dict):
        required = [name for name, field in keys.model_fields.items() if field.is_required()]
        return {}, [page.build_problem(f"front matter has no keys; add {', '.join(required)}")]
    try:
        return keys.model_validate(page.value).model_dump(exclude_unset=True), []
    except ValidationError as error:
        details = error.errors(include_url=False)
        wrong = {detail["loc"][0] for detail in details}
        right = {name: value for name, value in page.value.items() if name not in wrong}
        return right, [_build_problem(keys, page, detail) for detail in details]


def suggest_name(word: str, words: Iterable[str]) -> str:
    """Return a suggestion of a similar name; empty if there is none."""
    near = get_close_matches(word.lower(), list(words), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


def _build_problem(keys: type[BaseModel], page: YamlPage, error: ErrorDetails) -> FileProblem:
    key = str(error["loc"][0])
    if error["type"] == "extra_forbidden":
        known = list(keys.model_fields)
        hint = suggest_name(key, known) or f"; known keys: {', '.join(known)}"
        return page.build_problem(f"unknown key {key!r}{hint}", key)
    allowed = _describe_allowed(keys.model_fields[key])
    if error["type"] == "missing" and len(error["loc"]) == 1:
        return page.build_problem(f"{key} is missing; it must be {allowed}")
    shown = to_one_line(repr(error["input"]), 60)
    return page.build_problem(f"{key} is {shown}; allowed: {allowed}", *error["loc"])


def _describe_allowed(field: FieldInfo) -> str:
    annotation: Any = field.annotation
    if get_origin(annotation) is Literal:
        return ", ".join(get_args(annotation))
    if annotation == list[LadderRung]:
        return f"a list of {', '.join(get_args(LadderRung))}"
    if annotation == dict[str, DeclaredAccess]:
        return "tools and what they do, such as {mcp:git/*: {reads: [private], sends: nothing}}"
    if get_origin(annotation) is list:
        return "a list of names, such as [search_documents]"
    if get_origin(annotation) is dict:
        return "names and values, such as {name: value}"
    if annotation is bool:
        return "true, false"
    if annotation is str:
        return " ".join(["a text", *_describe_lengths(field)])
    kind = "a whole number" if annotation is int else "a number"
    return " ".join([kind, *_describe_bounds(field)])


def _describe_lengths(field: FieldInfo) -> Iterator[str]:
    for rule in field.metadata:
        match rule:
            case MinLen():
                yield "that is not empty"
            case MaxLen(max_length=most):
                yield f"of at most {most} characters"


def _describe_bounds(field: FieldInfo) -> Iterator[str]:
    for rule in field.metadata:
        match rule:
            case Ge(ge=least):
                yield f"from {least}"
            case Gt(gt=least):
                yield f"above {least}"
            case Le(le=most):
                yield f"to {most}"
            case Lt(lt=most):
                yield f"below {most}"
