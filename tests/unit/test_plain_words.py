"""Docstrings, comments and names use plain words and the field's terms."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("sources")

ROOT = Path(__file__).parents[2]
COVERED = ("state.py", "nodes", "graph", "extensions", "teams")
"""Files and folders that the rule holds for; a folder includes its subfolders."""
EXEMPT: tuple[str, ...] = ()
"""Files in covered folders that do not follow the rule yet."""

OPENINGS = {
    "give": "Return",
    "gives": "Returns, or Provides",
    "tell": "Return whether, Detect, or Report",
    "tells": "Reports, or Distinguishes",
    "say": "Return, or Return whether",
    "says": "Returns",
    "know": "Record",
    "knows": "Records",
    "enter": "Record, or Return the ledger entries",
    "word": "Return, or Build",
}
"""First words that a docstring must not have, each with what to write instead."""
WORDS = {
    r"(?:hands?|handed|handing)(?: it| a task| the task)? back": "escalates",
    r"anew": "again",
    r"mend(?:s|ed|ing)?": "fix",
    r"strangers?": "untrusted source",
    r"somebody|nobody|anybody": "a human, a caller, or no ... at all",
    r"to be had": "available",
    r"stands?": "is, appears, or counts",
    r"goes on|gone on|go on": "continues, resumes",
    r"under way": "running, in flight",
    r"left alone": "rate limited",
    r"again and again": "repeatedly, or after N consecutive failures",
    r"crowd|errand|thrift|harvest|salvage": "the field's term",
    r"a mistake of ours": "internal error",
    r"be it": "even, at least",
    r"in vain": "without a result",
    r"speaks? of|spoken": "names, covers",
    r"heed(?:s|ed)?": "answer",
}
"""Patterns for words to avoid, each with what to write instead."""
ANY_WORD = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)
NAMES = (
    r"(?:^|_)(?:told|tells|anew|mend|stranger|errand|somebody|nobody|heed|thrift|harvest)(?:_|$)"
)
"""Parts that the name of a module, class or function must not have."""


def list_covered_files() -> list[str]:
    paths = [ROOT / name for name in COVERED]
    files = [
        file
        for path in paths
        for file in ([path] if path.is_file() else path.rglob("*.py"))
        if "sample" not in file.parts
    ]
    names = sorted(file.relative_to(ROOT).as_posix() for file in files)
    return [name for name in names if name not in EXEMPT]


def read_docstrings(nodes: tuple[ast.AST, ...]) -> Iterator[tuple[int, str]]:
    """Yield each string that is a statement of its own: docstrings of fields included."""
    for node in nodes:
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text


def read_comments(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


@cache
def walk_source(source: str) -> tuple[ast.AST, ...]:
    """Return all nodes of a source; other tests of the group look through them, too."""
    return tuple(ast.walk(ast.parse(source)))


def find_problems(source: str, name: str) -> Iterator[str]:
    nodes = walk_source(source)
    docstrings = list(read_docstrings(nodes))
    for line, text in docstrings:
        opening = (re.findall(r"[A-Za-z]+", text) or [""])[0].lower()
        if opening in OPENINGS:
            yield f"{name}:{line}: begins with {opening!r}; write {OPENINGS[opening]}"
    suspect = [*docstrings, *read_comments(source)] if ANY_WORD.search(source) else []
    for line, text in suspect:
        for pattern, better in WORDS.items():
            if match := re.search(rf"\b(?:{pattern})\b", text, re.IGNORECASE):
                yield f"{name}:{line}: {match.group()!r}; write {better}"
    defined = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    names = [(node.lineno, node.name) for node in nodes if isinstance(node, defined)]
    for line, identifier in [(1, Path(name).stem), *names]:
        snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", identifier).lower()
        if match := re.search(NAMES, snake):
            yield f"{name}:{line}: the name {identifier} has {match.group().strip('_')!r}"


def test_the_code_uses_plain_words() -> None:
    names = list_covered_files()

    problems = [each for name in names for each in find_problems((ROOT / name).read_text(), name)]

    assert len(names) > 400
    assert not problems


def test_no_text_calls_a_file_or_a_report_an_artifact() -> None:
    constants = [
        (name, node.lineno, str(node.value))
        for name in list_covered_files()
        for node in walk_source((ROOT / name).read_text())
        if isinstance(node, ast.Constant)
    ]

    assert not [each for each in constants if re.search(r"(?i)artifacts? | artifact", each[2])]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ('"""Tell a whole answer from a part."""', "begins with 'tell'"),
        ('def f() -> None:\n    """Return a task anew."""', "'anew'"),
        ("x = 1  # nobody waits for it", "'nobody'"),
        ("def told() -> None: ...", "the name told"),
        ('limit = 1\n"""Says the limit."""', "begins with 'says'"),
    ],
)
def test_dialect_is_found(source: str, reason: str) -> None:
    assert any(reason in problem for problem in find_problems(source, "module.py"))


def test_a_string_that_is_not_a_docstring_is_not_checked() -> None:
    assert not list(find_problems('text = "hand it back to somebody"', "module.py"))
