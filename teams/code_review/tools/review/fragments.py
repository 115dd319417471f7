"""Build Python that parses from what a diff shows of a file, with the new file's line numbers.

A hunk begins and ends anywhere: in the middle of a call, a string, a block. What is missing before
and after is made up; statements that still do not parse are left out one by one.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nodes.limits.patterns import Pattern

from .diff import ChangedFile, Hunk
from .imports import guess_imports, list_imports
from .scan import (
    CLOSER_BY_OPENER,
    OPENER_BY_CLOSER,
    SourceScan,
    Statement,
    scan_source,
)
from .source_piece import BLOCK_OPENING, SourcePiece, get_indentation

MAX_OMITTED = 12
"""Statements of one hunk that may be left out before it is read statement by statement."""
PLACEHOLDER_NAME = "fragment"
"""Limit on what is made up."""

_ASYNC_CODE = Pattern(r"\bawait\b|\basync (?:for|with)\b")
_WORD = Pattern(r"[a-z]+|@")
_CONTINUATION = Pattern(r"(?:and|or|if|else|for|in|is|not in)\b|[-+/%|&<>.]|==|!=|\*(?![*\w])")
_BLOCK_STARTS = {"else": "if True:", "elif": "if True:", "except": "try:", "finally": "try:"}
"""Headers required before a block that continues this way."""
_DEFINITION_WORDS = frozenset(("def", "async", "class", "@"))


@dataclass(frozen=True)
class CodeFragment:
    """Python text that parses."""

    text: str
    numbers: tuple[int, ...]
    """Number of each line in the new file; 0 for one that is made up."""
    is_whole: bool
    cut_lines: frozenset[int] = frozenset()
    """Numbers of lines whose statement begins before or ends after the visible part."""


def build_fragments(file: ChangedFile) -> tuple[list[CodeFragment], list[int]]:
    """Return a file as text that parses, and the added lines that had to be left out.

    If the whole file is known, it is one text; otherwise it is one text per hunk.
    """
    whole = file.full_text
    if whole is not None and _is_parsable(whole):
        return [CodeFragment(whole, tuple(range(1, len(whole.split("\n")) + 1)), True)], []
    imports = list_imports(file)
    made = [_build_fragment(hunk, imports) for hunk in file.hunks if hunk.added]
    kept = {number for fragment in made for number in fragment.numbers}
    lost = [n for n, line in sorted(file.added.items()) if line.strip() and n not in kept]
    return made, lost


def _build_fragment(hunk: Hunk, imports: Sequence[str]) -> CodeFragment:
    numbers = list(range(hunk.start, hunk.start + len(hunk.lines)))
    best = _choose_best_repair(SourcePiece(hunk.lines, numbers, hunk.section))
    best = best.with_head([*imports, *guess_imports(best.lines)])
    return CodeFragment("\n".join(best.lines) + "\n", tuple(best.numbers), False, best.cut_lines)


def _choose_best_repair(piece: SourcePiece) -> SourcePiece:
    """Choose the repair that leaves out least: a piece may begin in code, or inside a string."""
    made = list[tuple[int, bool, SourcePiece]]()
    for quote in ("", '"""', "'''"):
        begun = piece.open_string(quote)
        if begun is None or (whole := _repair_piece(begun)) is None:
            continue
        # A string that never ends may have included what is code.
        is_open = bool(scan_source(begun.lines).open_quote)
        if not (whole.omitted_count or is_open):
            return whole
        made.append((whole.omitted_count, is_open, whole))
    best = min(made, key=lambda one: one[:2], default=None)
    return best[2] if best else _keep_parsable_statements(piece)


def _repair_piece(piece: SourcePiece) -> SourcePiece | None:
    """Make up what is missing around a piece; None if it cannot be made to parse."""
    piece = _open_brackets(piece)
    for _ in range(MAX_OMITTED):
        found = scan_source(piece.lines)
        if found.statements and (found.unclosed or found.open_quote):
            piece = piece.with_cut(found.statements[-1].first, len(piece.lines))
        errors = list[tuple[int, SourcePiece]]()
        for tail in _iterate_endings(piece, found):
            whole = _add_frame(piece, found, tail)
            line = _find_error_line(whole)
            if line is None:
                return whole
            errors.append((line, whole))
        broken = _find_broken_statement(piece, found, errors)
        if broken is None:
            return None
        piece = piece.without_statement(broken)
    return None


def _open_brackets(piece: SourcePiece) -> SourcePiece:
    """Open the brackets that a piece only closes."""
    found = scan_source(piece.lines)
    if not found.unopened:
        return piece
    closing = piece.lines[found.closes_at]
    rest = closing[closing.rfind(found.unopened[-1]) + 1 :]
    opening = "".join(OPENER_BY_CLOSER[closer] for closer in reversed(found.unopened))
    begins = closing.lstrip()[:1] in OPENER_BY_CLOSER
    indent = get_indentation(
        closing if begins else piece.find_next_line(found.closes_at + 1) or closing
    )
    first = piece.find_next_line(0).strip()
    if BLOCK_OPENING.search(rest) or rest.lstrip().startswith("->"):
        # The line after the head is one level deeper than the head.
        indent = indent if begins else indent[: -min(4, len(indent)) or None]
        head = f"{indent}{_guess_keyword(rest, first)} {PLACEHOLDER_NAME}{opening}"
    else:
        head = indent + (PLACEHOLDER_NAME if opening[0] == "(" else "") + opening
    head += f" {PLACEHOLDER_NAME}" if _CONTINUATION.match(first) else ""
    return piece.with_cut(0, found.closes_at).with_head([head])


def _guess_keyword(rest: str, first: str) -> str:
    """Distinguish the rest of a function's head from the rest of a condition."""
    is_plain_end = not rest.strip(": ")
    has_parameters = Pattern(r"(?<!\w)\*{0,2}\w++\s*+(?:[:=,]|$)").match(first) is not None
    return "def" if "->" in rest or (is_plain_end and has_parameters) else "if"


def _iterate_endings(piece: SourcePiece, found: SourceScan) -> Iterator[list[str]]:
    """Return possible endings: closed brackets and strings, bodies for blocks without one."""
    closing = "".join(CLOSER_BY_OPENER[opener] for opener in reversed(found.unclosed))
    if found.open_quote:
        yield _add_bodies(piece, found, [found.open_quote + closing])
    elif closing:
        for tail in (closing, PLACEHOLDER_NAME + closing):
            yield _add_bodies(piece, found, [tail])
            yield _add_bodies(piece, found, [f"{tail}: pass"])
    elif piece.lines[-1].endswith("\\"):
        yield [" +0"]
        yield [" +0: pass"]
    else:
        yield _add_bodies(piece, found, [])


def _add_bodies(piece: SourcePiece, found: SourceScan, tail: list[str]) -> list[str]:
    statements = found.statements
    if not statements:
        return tail
    last = statements[-1]
    if not tail and last.text.startswith("@"):
        tail = [f"{last.indent}def {PLACEHOLDER_NAME}(): pass"]
    elif not tail and BLOCK_OPENING.search(piece.lines[last.last]):
        tail = [f"{last.indent} pass"]
    open_tries = list[Statement]()
    for statement in statements:
        depth = len(statement.indent)
        open_tries = [one for one in open_tries if len(one.indent) < depth]
        if statement.text.startswith("try:"):
            open_tries.append(statement)
    return tail + [f"{one.indent}finally: pass" for one in reversed(open_tries)]


def _add_frame(piece: SourcePiece, found: SourceScan, tail: list[str]) -> SourcePiece:
    """Add headers before a piece for the blocks in which it begins."""
    levels = list[Statement]()
    for statement in found.statements:
        if not levels or len(statement.indent) < len(levels[-1].indent):
            levels.append(statement)
    if not levels:
        return piece.with_tail(tail)
    is_async = piece.section.startswith("async ") or _ASYNC_CODE.search("\n".join(piece.lines))
    function = f"{'async ' * bool(is_async)}def {PLACEHOLDER_NAME}():"
    head = [level.indent + _guess_header(level, function) for level in reversed(levels[1:])]
    if levels[-1].indent:
        is_member = (
            piece.section.startswith("class ") and _get_first_word(levels[-1]) in _DEFINITION_WORDS
        )
        head.insert(0, f"class {PLACEHOLDER_NAME}:" if is_member else function)
    if start := _BLOCK_STARTS.get(_get_first_word(levels[0])):
        head.append(levels[0].indent + start + " pass")
    return piece.with_head(head).with_tail(tail)


def _guess_header(dedented: Statement, function: str) -> str:
    """Guess the header of the block that ends at a statement."""
    word = _get_first_word(dedented)
    if word in _BLOCK_STARTS:
        return _BLOCK_STARTS[word]
    return function if word in _DEFINITION_WORDS or not dedented.indent else "if True:"


def _get_first_word(statement: Statement) -> str:
    found = _WORD.match(statement.text)
    return found.group() if found else ""


def _find_broken_statement(
    piece: SourcePiece, found: SourceScan, errors: list[tuple[int, SourcePiece]]
) -> Statement | None:
    """Find the statement at which the attempt that parsed furthest failed."""
    reached = list[int]()
    for line, whole in errors:
        made_up = next((at for at, n in enumerate(whole.numbers) if n), 0)
        own = next((at for at, n in enumerate(piece.numbers) if n), 0)
        reached.append(line - made_up + own)
    at = max(reached, default=-1)
    blamed = [one for one in found.statements if one.first <= at <= one.last]
    return blamed[0] if blamed and any(piece.numbers[blamed[0].first : at + 1]) else None


def _keep_parsable_statements(piece: SourcePiece) -> SourcePiece:
    """Keep the statements that parse by themselves."""
    lines, numbers = [f"async def {PLACEHOLDER_NAME}():"], [0]
    for statement in scan_source(piece.lines).statements:
        within = slice(statement.first, statement.last + 1)
        body = [line.removeprefix(statement.indent) for line in piece.lines[within]]
        if BLOCK_OPENING.search(body[-1]):
            body[-1] += " pass"
        if _is_parsable("\n".join(body)):
            lines += [f" {line}" for line in body]
            numbers += piece.numbers[within]
    cut = frozenset(numbers) - {0}
    return SourcePiece([*lines, " pass"], [*numbers, 0], cut_lines=cut)


def _is_parsable(text: str) -> bool:
    return _find_error_line(SourcePiece(text.split("\n"), [])) is None


def _find_error_line(piece: SourcePiece) -> int | None:
    """Return the line, counted from 0, at which parsing fails."""
    try:
        ast.parse("\n".join(piece.lines) + "\n")
    except SyntaxError as error:
        return max(0, (error.lineno or 1) - 1)
    except (ValueError, RecursionError, MemoryError):
        return 0
    return None
