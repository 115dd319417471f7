"""Build Python that parses from what a diff shows of a file, with the new file's line numbers.

A hunk begins and ends anywhere: in the middle of a call, a string, a block. The parser's errors say
what to do: what is missing around the lines is made up, and a line that cannot be parsed is left
out. If that is not enough, each half of the lines is tried by itself.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from extensions.tools.linting.rules import Lens, LintRule, ReviewFinding
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.tool_report import join_names

from .diff import ChangedFile, Hunk

MAX_REPAIRS = 30
"""Changes to a piece before it is tried in halves."""
MAX_IMPORTS = 60
COMMON_MODULES = (
    *("asyncio", "contextlib", "copy", "dataclasses", "datetime", "decimal", "functools"),
    *("hashlib", "httpx", "itertools", "json", "logging", "math", "os", "pickle", "random", "re"),
    *("requests", "shutil", "ssl", "subprocess", "sys", "tarfile", "tempfile", "threading"),
    *("time", "urllib", "warnings", "yaml"),
)
"""Assumed to be imported if a name of theirs is used."""

_NAME = "fragment"
"""Name of all that is made up."""
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_OPENERS = {closer: opener for opener, closer in _CLOSERS.items()}
_QUOTES = ('"""', "'''")
_BLOCK_STARTS = {"else": "if True:", "elif": "if True:", "except": "try:", "finally": "try:"}
"""Headers required before a block that continues this way."""
_DEFINITION_WORDS = frozenset(("def", "async", "class", "@"))
_FIRST_WORD = Pattern(r"[a-z]+|@")
_HEADER_END = Pattern(r":\s*(?:#.*)?$")
_ASYNC_CODE = Pattern(r"\bawait\b|\basync (?:for|with)\b")
_IMPORT_LINE = Pattern(r"(?:import [\w., ]+|from (?!__future__)[\w.]+ import [\w, ]+)")
_MODULE_USE = Pattern(rf"(?<![\w.])({'|'.join(COMMON_MODULES)})\.[a-z]")


@dataclass(frozen=True)
class CodeFragment:
    """Python text that parses, of one file."""

    file: ChangedFile
    text: str
    numbers: tuple[int, ...]
    """Number of each line in the new file; 0 for one that is made up."""
    is_whole: bool = False

    def find_added_line(self, row: int) -> int:
        """Return the new file's number of a row, counted from 1; 0 if the diff did not add it."""
        number = self.numbers[row - 1] if 0 < row <= len(self.numbers) else 0
        return number if number in self.file.added else 0


def build_fragments(file: ChangedFile) -> tuple[list[CodeFragment], list[int]]:
    """Return a file as text that parses, and the added lines that had to be left out.

    If the whole file is known, it is one text; otherwise it is one text or more for each hunk.
    """
    whole = file.full_text
    if whole is not None and _find_error(whole) is None:
        return [CodeFragment(file, whole, tuple(range(1, whole.count("\n") + 2)), True)], []
    shown = (line.rstrip() for hunk in file.hunks for line in hunk.lines)
    imports = list(dict.fromkeys(line for line in shown if _IMPORT_LINE.fullmatch(line)))
    made = [
        _build_fragment(file, piece, imports[:MAX_IMPORTS])
        for hunk in file.hunks
        if hunk.added
        for piece in _repair_lines(hunk, 0, len(hunk.lines))
    ]
    kept = {number for fragment in made for number in fragment.numbers}
    lost = [n for n, line in sorted(file.added.items()) if line.strip() and n not in kept]
    return made, lost


def _build_fragment(file: ChangedFile, piece: "_Piece", imports: Sequence[str]) -> CodeFragment:
    """Add the imports that are shown or can be guessed: rules know a function by its module."""
    text = "\n".join(piece.lines)
    guessed = [f"import {name}" for name in sorted(set(_MODULE_USE.findall(text)))]
    head = [*imports, *guessed, *piece.build_head()]
    lines = [*head, *piece.lines, *piece.build_tail()]
    numbers = (*([0] * len(head)), *piece.numbers)
    numbers += (0,) * (len(lines) - len(numbers))
    return CodeFragment(file, "\n".join(lines) + "\n", numbers)


def _repair_lines(hunk: Hunk, start: int, end: int) -> Iterator["_Piece"]:
    """Yield the repair that leaves out least, of all lines at once or of each half."""
    pieces = [_Piece(hunk, start, end)]
    for quote in _QUOTES:
        if any(quote in line for line in pieces[0].lines):
            pieces.append(_Piece(hunk, start, end))
            pieces[-1].begin_in_string(quote)
    repaired = [piece for piece in pieces if piece.repair()]
    if repaired:
        yield min(repaired, key=lambda piece: (piece.omitted, piece.is_open))
    elif end - start > 1:
        middle = (start + end) // 2
        yield from _repair_lines(hunk, start, middle)
        yield from _repair_lines(hunk, middle, end)


class _Piece:
    """Lines of a hunk with their numbers, while they are changed until they parse."""

    def __init__(self, hunk: Hunk, start: int, end: int) -> None:
        self.lines = list(hunk.lines[start:end])
        self.numbers = list(range(hunk.start + start, hunk.start + end))
        self.omitted = 0
        """Lines that had to be left out."""
        self.is_open = False
        """Whether a string is open at the end, which may have swallowed code."""
        self._section = hunk.section if start == 0 else ""
        self._closing = ""

    @property
    def _last_row(self) -> int:
        return max((row for row, line in enumerate(self.lines) if line.strip()), default=0)

    def repair(self) -> bool:
        """Change the lines until they parse; return whether they do."""
        for _ in range(MAX_REPAIRS):
            head = self.build_head()
            error = _find_error("\n".join([*head, *self.lines, *self.build_tail()]))
            if error is None:
                return any(self.numbers)
            if not self._apply_repair(error, (error.lineno or 1) - 1 - len(head)):
                return False
        return False

    def build_head(self) -> list[str]:
        """Return headers for the blocks in which the lines begin."""
        levels = list[tuple[str, str]]()
        for line in filter(_is_code, self.lines):
            indent = _get_indent(line)
            if not levels or len(indent) < len(levels[-1][0]):
                levels.append((indent, _get_first_word(line)))
        if not levels:
            return []
        is_async = self._section.startswith("async ") or _ASYNC_CODE.search("\n".join(self.lines))
        function = f"{'async ' * bool(is_async)}def {_NAME}():"
        head = [
            indent
            + _BLOCK_STARTS.get(
                word, function if word in _DEFINITION_WORDS or not indent else "if True:"
            )
            for indent, word in reversed(levels[1:])
        ]
        if levels[-1][0]:
            is_member = self._section.startswith("class ") and levels[-1][1] in _DEFINITION_WORDS
            head.insert(0, f"class {_NAME}:" if is_member else function)
        if start := _BLOCK_STARTS.get(levels[0][1]):
            head.append(f"{levels[0][0]}{start} pass")
        return head

    def build_tail(self) -> list[str]:
        """Return what ends the strings, brackets and blocks that are open at the end."""
        tail, tries = [self._closing] if self._closing else [], list[str]()
        code = [line for line in self.lines if _is_code(line)]
        if code and not tail and _HEADER_END.search(code[-1]):
            tail = [f"{_get_indent(code[-1])} pass"]
        for line in code:
            indent = _get_indent(line)
            tries = [one for one in tries if len(one) < len(indent)]
            if line.lstrip().startswith("try:"):
                tries.append(indent)
        return tail + [f"{indent}finally: pass" for indent in reversed(tries)]

    def begin_in_string(self, quote: str) -> None:
        """Open the string that may contain the first line, and that a later line closes."""
        inside = next(at for at, line in enumerate(self.lines) if quote in line)
        end = self.lines[inside]
        after = next(filter(str.strip, self.lines[inside + 1 :]), end)
        self._begin_with(_get_indent(end if end.strip()[:3] == quote else after) + quote)

    def _begin_with(self, line: str) -> None:
        """Begin with a made-up line."""
        self.lines.insert(0, line)
        self.numbers.insert(0, 0)

    def _apply_repair(self, error: SyntaxError, at: int) -> bool:
        """Do what an error at a line asks for; return whether anything could be done."""
        message, line = error.msg, "".join(self.lines[at : at + 1])
        if at < 0:
            return False
        if "was never closed" in message and line:
            self._closing += _CLOSERS[message[1]]
        elif "unterminated triple-quoted" in message and line:
            self.is_open = True
            self._closing = max(_QUOTES, key=line.rfind)
        elif message == "expected ':'" and not line and self._closing:
            self._closing += ": pass"
        elif self._closing[:1] in _OPENERS and at >= self._last_row:
            self._closing = _NAME + self._closing  # the last expression has only begun
        elif message.startswith("unmatched") and line and not self.omitted:
            self._open_bracket(at, message[len("unmatched '")])
        else:
            return self._leave_out(at, "unexpected indent" in message)
        return True

    def _open_bracket(self, at: int, closer: str) -> None:
        """Open a bracket that is only closed, of a call, a display or a function's head."""
        closing = self.lines[at]
        rest = closing[closing.rfind(closer) + 1 :]
        after = next(filter(str.strip, self.lines[at + 1 :]), closing)
        indent = _get_indent(closing if closing.strip()[0] in _OPENERS else after)
        name = _NAME if closer == ")" else ""
        if _HEADER_END.search(rest):
            indent = indent if indent == _get_indent(closing) else indent[:-4]
            name = f"def {_NAME}"
        self._begin_with(indent + name + _OPENERS[closer])

    def _leave_out(self, at: int, is_continuation: bool) -> bool:
        """Leave a line out; one that begins a block still begins one."""
        at = min(at, self._last_row)
        line = self.lines[at]
        if not line.strip():
            return False
        if not self.numbers[at] or is_continuation:
            self.lines[at] = ""
        else:
            self.lines[at] = _get_indent(line) + (
                "if True:" if _HEADER_END.search(line) else "pass"
            )
        self.omitted += bool(self.numbers[at])
        self.numbers[at], self._closing = 0, ""
        return True


def _is_code(line: str) -> bool:
    return line.lstrip()[:1] not in ("", "#")


def _get_indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _get_first_word(line: str) -> str:
    found = _FIRST_WORD.match(line.lstrip())
    return found.group() if found else ""


def _find_error(text: str) -> SyntaxError | None:
    """Return why a text does not parse."""
    try:
        ast.parse(text + "\n")
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return SyntaxError("cannot be parsed", ("", 0, 0, ""))
    return None


MIN_SURE_CONFIDENCE = 80
"""Below it a finding is a hint: passed to the worker's model, and left out by most teams."""
MAX_MESSAGE_CHARS = 240
NOT_SHIPPED_PENALTIES: Mapping[Lens, int] = {"security": 25, "performance": 10, "style": 10}
"""Subtracted from the confidence of a finding in tests, documents and examples."""
MOVED_PENALTY = 30
"""Subtracted where the diff removes the same line elsewhere in the file: it is moved, not new."""

_NOT_SHIPPED_PATH = Pattern(
    r"(?:^|/)(?:tests?|testing|docs?|examples?|fixtures|conftest\.py|test_[^/]*|[^/]*_test\.py)(?:/|$)"
    r"|\.(?:md|rst|txt)$",
    re.IGNORECASE,
)
_NOQA = Pattern(r"#\s*noqa(?::\s*(?P<codes>[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*))?", re.IGNORECASE)


@dataclass(frozen=True)
class RuleHit:
    """A rule that matched on a line which the diff adds or changes."""

    file: ChangedFile
    line: int
    rule: LintRule
    code: str
    """The rule's full name, if the table only has its family."""
    message: str = ""
    advice: str = ""
    penalty: int = 0
    """Subtracted from the rule's confidence for the circumstances."""

    @property
    def confidence(self) -> int:
        less = self.penalty
        if _NOT_SHIPPED_PATH.search(self.file.path):
            less += NOT_SHIPPED_PENALTIES.get(self.rule.lens, 0)
        if self.file.added[self.line].strip() in self.file.removed_texts:
            less += MOVED_PENALTY
        return max(0, self.rule.confidence - less)

    def to_finding(self, also: Iterable[int] = ()) -> ReviewFinding:
        """Return it as a finding; `also` holds further lines of the same kind."""
        rule = self.rule
        words = sanitize_line(rule.message or self.message, MAX_MESSAGE_CHARS).rstrip(".")
        others = join_names(map(str, also))
        more = f", also in line {others}" if others else ""
        # What is in doubt is not grave: a grave finding is always reported.
        is_doubted = self.confidence < MIN_SURE_CONFIDENCE
        is_grave = rule.severity in ("critical", "high")
        return ReviewFinding(
            severity="medium" if is_grave and is_doubted else rule.severity,
            message=f"{words} [{self.code}]{more}.",
            file=self.file.path,
            line=self.line,
            suggestion=rule.advice or sanitize_line(self.advice, MAX_MESSAGE_CHARS),
            confidence=self.confidence,
        )


def is_waived(line: str, code: str) -> bool:
    """Return whether a line suppresses a rule with `noqa`."""
    found = _NOQA.search(line)
    if found is None:
        return False
    named = (found.group("codes") or "").upper()
    return not named or any(code.startswith(each) for each in Pattern(r"[\s,]+").split(named))


def list_waived_lines(file: ChangedFile) -> list[int]:
    """Return the added lines that suppress linters."""
    return [number for number, line in file.added.items() if _NOQA.search(line)]


def build_findings(hits: Iterable[RuleHit], *, together: bool = False) -> list[ReviewFinding]:
    """Build findings from hits without duplicates; `together` merges those of a rule and file."""
    groups: dict[tuple[str, str, int, int], dict[int, RuleHit]] = {}
    for hit in sorted(hits, key=lambda hit: (hit.line, hit.confidence)):
        place = 0 if together else hit.line
        key = (hit.file.path, hit.code, hit.confidence * together, place)
        groups.setdefault(key, {})[hit.line] = hit
    return [next(iter(group.values())).to_finding(list(group)[1:]) for group in groups.values()]
