"""Change one rule of the house at a time, and show which changes no test notices.

    python -m tests.mutations [CHECKOUT] [--count 50] [--seed 31] [--only 1 7]

Works in a scratch copy beside the checkout, with its `.venv`. A rule is a comparison, a limit, a
boolean operator or a returned constant of `nodes/` and `graph/`. The draw hangs on the seed, the
rule and its function, not on their place: two commits are asked about the same rules.
"""

import argparse
import ast
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Final

ROOMS: Final = ("nodes", "graph")
PAIRS: Final = (("Lt", "LtE"), ("Gt", "GtE"), ("Eq", "NotEq"), ("Is", "IsNot"), ("In", "NotIn"))
OPPOSITES: Final = {**dict(PAIRS), **{second: first for first, second in PAIRS}}
PYTEST: Final = (*("-m", "pytest", "-n0", "-xrfE", "--tb=no"), "--hypothesis-profile=quick")
OUTSIDE, TIMED_OUT = "a run that does not begin", "the time limit"
MIN_FILES: Final = 8
"""Of tests for a rule; where fewer import its module, those that import its readers run, too."""


@dataclass(frozen=True)
class Mutation:
    """One change of one rule; places are in bytes."""

    path: str
    line: int
    function: str
    start: int
    end: int
    before: str
    after: str


def change(node: ast.AST) -> ast.expr | None:
    """Return what takes the place of an expression; None where it is no rule."""
    match node:
        case ast.Compare(left=left, ops=[first, *rest], comparators=right):
            opposite = getattr(ast, OPPOSITES[type(first).__name__])()
            return ast.Compare(left, [opposite, *rest], right)
        case ast.BoolOp(op=op, values=values):
            return ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.Return(value=ast.Constant(value=bool() | None as claim)):
            return ast.Constant(not claim)
        case ast.Return(value=ast.Constant(value=int() | float() as number)):
            return ast.Constant(number + 1)
        case ast.AnnAssign(value=ast.Constant(value=int() | float() as number)):
            return ast.Constant(not number if isinstance(number, bool) else number + 1)
    return None


def list_mutations(root: Path, path: Path) -> Iterator[Mutation]:
    """Yield the changes that one file allows."""
    source = path.read_bytes()
    name = path.relative_to(root).as_posix()
    starts = [0, *accumulate(len(line) for line in source.splitlines(keepends=True))]

    def visit(node: ast.AST, function: str) -> Iterator[Mutation]:
        if isinstance(node, ast.JoinedStr | ast.Assert):  # Python 3.11 has no places in f-strings
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            function = f"{function}.{node.name}"
        changed = change(node)
        replaced = node.value if isinstance(node, ast.Return | ast.AnnAssign) else node
        if changed and isinstance(replaced, ast.expr) and replaced.end_lineno:
            start = starts[replaced.lineno - 1] + replaced.col_offset
            end = starts[replaced.end_lineno - 1] + (replaced.end_col_offset or 0)
            texts = (ast.unparse(node), f"({ast.unparse(changed)})")
            yield Mutation(name, replaced.lineno, function, start, end, *texts)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, function)

    yield from visit(ast.parse(source), path.stem if path.parent == root else "")


def draw_mutations(root: Path, count: int, seed: int) -> list[Mutation]:
    """Return as many rules as are asked for, in the order of the draw; equal ones count once."""
    files = sorted(path for room in ROOMS for path in (root / room).rglob("*.py"))
    found = [mutation for path in files for mutation in list_mutations(root, path)]
    texts = {f"{seed} {each.function} {each.before}": each for each in reversed(found)}
    drawn = sorted(texts, key=lambda text: random.Random(text).random())
    return [texts[text] for text in drawn[:count]]


@cache
def list_imports(path: Path) -> set[str]:
    """Return the modules that a file names in imports, and their members, which may be modules."""
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    whole = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    members = {f"{node.module}.{alias.name}" for node in froms for alias in node.names}
    return whole | members | {node.module or "" for node in froms}


def select_tests(root: Path, path: str) -> tuple[list[str], list[str]]:
    """Return the test files that import a module, and those that do so through another one."""

    files = [file for room in (*ROOMS, "extensions") for file in (root / room).rglob("*.py")]
    dotted = [str(file.relative_to(root).with_suffix("")).replace("/", ".") for file in files]
    names = dict(zip(files, (name.removesuffix(".__init__") for name in dotted), strict=True))
    own = {names[root / path]}
    readers = {names[file] for file in files if list_imports(file) & own}
    tests = sorted((root / "tests").glob("[ui]n*/**/test_*.py"))  # unit, integration
    near = [str(file.relative_to(root)) for file in tests if list_imports(file) & own]
    if len(near) >= MIN_FILES:
        return near, []
    far = [str(file.relative_to(root)) for file in tests if list_imports(file) & readers]
    return near, [each for each in far if each not in near]


def run_tests(root: Path, options: list[str], limit_s: float) -> list[str]:
    """Return the first case that fails, or that the tests did not end in time; empty for none."""
    command = [".venv/bin/python", *PYTEST, *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=root, stdout=pipe, text=True, process_group=0) as tests:
        try:
            output, _ = tests.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(tests.pid, signal.SIGKILL)
            return [TIMED_OUT]
    lines = [line.split(" - ")[0] for line in output.splitlines()]
    failed = [line.split(" ", 1)[1] for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return failed or ([OUTSIDE] if tests.returncode not in (0, 5) else [])


def judge(root: Path, mutation: Mutation, limit_s: float) -> str:
    """Return which case catches a mutation, or that none does."""
    near, far = select_tests(root, mutation.path)
    file = root / mutation.path
    source = file.read_bytes()
    mutated = source[: mutation.start] + mutation.after.encode() + source[mutation.end :]
    ignored: list[str] = []
    for chosen in ([*near, "-m", "not slow"], [*near, "-m", "slow"], [*far, "-m", "not slow"]):
        while len(chosen) > 2:
            asked = [*chosen, *(f"--deselect={name}" for name in ignored)]
            file.write_bytes(mutated)
            failed = run_tests(root, asked, limit_s)
            file.write_bytes(source)
            if not failed or failed[0] in ignored:
                break
            if failed[0] == TIMED_OUT:
                return f"not caught: {TIMED_OUT}"
            # A case that fails without the change does not count.
            alone = [*near[:1], "--collect-only"] if failed[0] == OUTSIDE else failed[:1]
            if not run_tests(root, alone, limit_s):
                return f"caught by {failed[0]}"
            ignored += failed[:1]
    return f"not caught: {len(near)} files of tests import it, {len(far)} through another"


def copy_checkout(checkout: Path, scratch: Path) -> None:
    """Copy what git knows; `.venv` by hard links, so that commands of its own run the copy."""
    for name in subprocess.check_output(["git", "ls-files"], cwd=checkout, text=True).splitlines():
        (scratch / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(checkout / name, scratch / name, follow_symlinks=False)
    shutil.copytree(checkout / ".venv", scratch / ".venv", symlinks=True, copy_function=os.link)


def main() -> None:
    """Print a line for each rule, and how many were caught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", nargs="?", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of the draw, from 1")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds, for each run of tests")
    asked = parser.parse_args()
    checkout = asked.checkout.resolve()
    scratch = Path(tempfile.mkdtemp(prefix="mutations-", dir=checkout.parent))
    try:
        copy_checkout(checkout, scratch)
        verdicts = []
        for number, rule in enumerate(draw_mutations(scratch, asked.count, asked.seed), 1):
            if number in (asked.only or [number]):
                print(f"{number:3} {rule.path}:{rule.line} {rule.before} -> {rule.after}")
                began = time.monotonic()
                verdicts.append(judge(scratch, rule, asked.limit))
                print(f"    {verdicts[-1]} ({time.monotonic() - began:.0f} s)", flush=True)
        print(f"{sum(each.startswith('caught') for each in verdicts)} of {len(verdicts)} caught")
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
