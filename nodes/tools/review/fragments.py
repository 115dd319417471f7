"""Python that parses, made of what a diff shows of a file, with the new file's line numbers.

A hunk begins and ends anywhere: in the middle of a call, a string, a block. What is missing before
and after is made up; what still does not parse is left out, a statement at a time.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nodes.limits.patterns import Pattern
from nodes.tools.review.diff import ChangedFile, Hunk
from nodes.tools.review.imports import guessed, imported
from nodes.tools.review.piece import BLOCK, Piece, indentation
from nodes.tools.review.scan import CLOSER, OPENER, Scan, Statement, scan

MAX_LEFT_OUT = 12
"""Statements of one hunk that may be left out before it is read statement by statement."""
NAME = "fragment"
"""Of what is made up."""

_AWAITS = Pattern(r"\bawait\b|\basync (?:for|with)\b")
_WORD = Pattern(r"[a-z]+|@")
_GOES_ON = Pattern(r"(?:and|or|if|else|for|in|is|not in)\b|[-+/%|&<>.]|==|!=|\*(?![*\w])")
_STARTS = {"else": "if True:", "elif": "if True:", "except": "try:", "finally": "try:"}
"""What must stand before a block that goes on so."""
_DEF = frozenset(("def", "async", "class", "@"))


@dataclass(frozen=True)
class Fragment:
    """Python text that parses."""

    text: str
    numbers: tuple[int, ...]
    """Of each line in the new file; 0 for one that is made up."""
    is_whole: bool
    cut: frozenset[int] = frozenset()
    """Numbers of lines whose statement begins before or ends after what is shown."""


def fragments(file: ChangedFile) -> tuple[list[Fragment], list[int]]:
    """Give a file as text that parses, and the added lines that had to be left out.

    Where the whole file is known, that is one text; otherwise it is one for each hunk.
    """
    whole = file.whole
    if whole is not None and _parses(whole):
        return [Fragment(whole, tuple(range(1, len(whole.split("\n")) + 1)), True)], []
    imports = imported(file)
    made = [_fragment(hunk, imports) for hunk in file.hunks if hunk.added]
    kept = {number for fragment in made for number in fragment.numbers}
    lost = [n for n, line in sorted(file.added.items()) if line.strip() and n not in kept]
    return made, lost


def _fragment(hunk: Hunk, imports: Sequence[str]) -> Fragment:
    numbers = list(range(hunk.start, hunk.start + len(hunk.lines)))
    best = _best(Piece(hunk.lines, numbers, hunk.section))
    best = best.with_head([*imports, *guessed(best.lines)])
    return Fragment("\n".join(best.lines) + "\n", tuple(best.numbers), False, best.cut)


def _best(piece: Piece) -> Piece:
    """Leave out least: the piece may begin in code, or inside of a string."""
    made = list[tuple[int, bool, Piece]]()
    for quote in ("", '"""', "'''"):
        begun = piece.begun(quote)
        if begun is None or (whole := _repaired(begun)) is None:
            continue
        # A string that never ends may have swallowed what is code.
        is_open = bool(scan(begun.lines).open_quote)
        if not (whole.left_out or is_open):
            return whole
        made.append((whole.left_out, is_open, whole))
    best = min(made, key=lambda one: one[:2], default=None)
    return best[2] if best else _line_by_line(piece)


def _repaired(piece: Piece) -> Piece | None:
    """Make up what is missing around a piece; None when it cannot be made to parse."""
    piece = _opened(piece)
    for _ in range(MAX_LEFT_OUT):
        found = scan(piece.lines)
        if found.statements and (found.unclosed or found.open_quote):
            piece = piece.with_cut(found.statements[-1].first, len(piece.lines))
        errors = list[tuple[int, Piece]]()
        for tail in _tails(piece, found):
            whole = _framed(piece, found, tail)
            line = _error_line(whole)
            if line is None:
                return whole
            errors.append((line, whole))
        broken = _broken(piece, found, errors)
        if broken is None:
            return None
        piece = piece.without(broken)
    return None


def _opened(piece: Piece) -> Piece:
    """Open the brackets that a piece only closes."""
    found = scan(piece.lines)
    if not found.unopened:
        return piece
    closing = piece.lines[found.closes_at]
    rest = closing[closing.rfind(found.unopened[-1]) + 1 :]
    opening = "".join(OPENER[closer] for closer in reversed(found.unopened))
    begins = closing.lstrip()[:1] in OPENER
    indent = indentation(closing if begins else piece.after(found.closes_at + 1) or closing)
    first = piece.after(0).strip()
    if BLOCK.search(rest) or rest.lstrip().startswith("->"):
        # The line after the head stands one level deeper than the head.
        indent = indent if begins else indent[: -min(4, len(indent)) or None]
        head = f"{indent}{_compound(rest, first)} {NAME}{opening}"
    else:
        head = indent + (NAME if opening[0] == "(" else "") + opening
    head += f" {NAME}" if _GOES_ON.match(first) else ""
    return piece.with_cut(0, found.closes_at).with_head([head])


def _compound(rest: str, first: str) -> str:
    """Tell the rest of a function's head from the rest of a condition."""
    is_plain_end = not rest.strip(": ")
    has_parameters = Pattern(r"(?<!\w)\*{0,2}\w++\s*+(?:[:=,]|$)").match(first) is not None
    return "def" if "->" in rest or (is_plain_end and has_parameters) else "if"


def _tails(piece: Piece, found: Scan) -> Iterator[list[str]]:
    """Give endings to try: closed brackets and strings, bodies of blocks that have none."""
    closing = "".join(CLOSER[opener] for opener in reversed(found.unclosed))
    if found.open_quote:
        yield _bodies(piece, found, [found.open_quote + closing])
    elif closing:
        for tail in (closing, NAME + closing):
            yield _bodies(piece, found, [tail])
            yield _bodies(piece, found, [f"{tail}: pass"])
    elif piece.lines[-1].endswith("\\"):
        yield [" +0"]
        yield [" +0: pass"]
    else:
        yield _bodies(piece, found, [])


def _bodies(piece: Piece, found: Scan, tail: list[str]) -> list[str]:
    statements = found.statements
    if not statements:
        return tail
    last = statements[-1]
    if not tail and last.text.startswith("@"):
        tail = [f"{last.indent}def {NAME}(): pass"]
    elif not tail and BLOCK.search(piece.lines[last.last]):
        tail = [f"{last.indent} pass"]
    open_tries = list[Statement]()
    for statement in statements:
        depth = len(statement.indent)
        open_tries = [one for one in open_tries if len(one.indent) < depth]
        if statement.text.startswith("try:"):
            open_tries.append(statement)
    return tail + [f"{one.indent}finally: pass" for one in reversed(open_tries)]


def _framed(piece: Piece, found: Scan, tail: list[str]) -> Piece:
    """Put headers before a piece for the blocks that it begins in."""
    levels = list[Statement]()
    for statement in found.statements:
        if not levels or len(statement.indent) < len(levels[-1].indent):
            levels.append(statement)
    if not levels:
        return piece.with_tail(tail)
    is_async = piece.section.startswith("async ") or _AWAITS.search("\n".join(piece.lines))
    function = f"{'async ' * bool(is_async)}def {NAME}():"
    head = [level.indent + _header(level, function) for level in reversed(levels[1:])]
    if levels[-1].indent:
        is_member = piece.section.startswith("class ") and _first_word(levels[-1]) in _DEF
        head.insert(0, f"class {NAME}:" if is_member else function)
    if start := _STARTS.get(_first_word(levels[0])):
        head.append(levels[0].indent + start + " pass")
    return piece.with_head(head).with_tail(tail)


def _header(dedented: Statement, function: str) -> str:
    """Guess what opened the block that ends at a statement."""
    word = _first_word(dedented)
    if word in _STARTS:
        return _STARTS[word]
    return function if word in _DEF or not dedented.indent else "if True:"


def _first_word(statement: Statement) -> str:
    found = _WORD.match(statement.text)
    return found.group() if found else ""


def _broken(piece: Piece, found: Scan, errors: list[tuple[int, Piece]]) -> Statement | None:
    """Find the statement at which the attempt that came furthest failed."""
    reached = list[int]()
    for line, whole in errors:
        made_up = next((at for at, n in enumerate(whole.numbers) if n), 0)
        own = next((at for at, n in enumerate(piece.numbers) if n), 0)
        reached.append(line - made_up + own)
    at = max(reached, default=-1)
    blamed = [one for one in found.statements if one.first <= at <= one.last]
    return blamed[0] if blamed and any(piece.numbers[blamed[0].first : at + 1]) else None


def _line_by_line(piece: Piece) -> Piece:
    """Keep the statements that parse by themselves."""
    lines, numbers = [f"async def {NAME}():"], [0]
    for statement in scan(piece.lines).statements:
        within = slice(statement.first, statement.last + 1)
        body = [line.removeprefix(statement.indent) for line in piece.lines[within]]
        if BLOCK.search(body[-1]):
            body[-1] += " pass"
        if _parses("\n".join(body)):
            lines += [f" {line}" for line in body]
            numbers += piece.numbers[within]
    cut = frozenset(numbers) - {0}
    return Piece([*lines, " pass"], [*numbers, 0], cut=cut)


def _parses(text: str) -> bool:
    return _error_line(Piece(text.split("\n"), [])) is None


def _error_line(piece: Piece) -> int | None:
    """Give the line, counted from 0, at which parsing fails."""
    try:
        ast.parse("\n".join(piece.lines) + "\n")
    except SyntaxError as error:
        return max(0, (error.lineno or 1) - 1)
    except (ValueError, RecursionError, MemoryError):
        return 0
    return None
