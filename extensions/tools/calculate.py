"""Arithmetic, and nothing else."""

import ast
import math
import operator
import unicodedata
from collections.abc import Callable
from typing import Any

from langchain_core.tools import tool
from simpleeval import (  # type: ignore[import-untyped]
    InvalidExpression,
    OperatorNotDefined,
    SimpleEval,
)

from nodes.errors import ToolRefused

MAX_CHARS = 500
MAX_BITS = 4096
MAX_EXPONENT = 1000
FLOAT_DIGITS = 15

_OPERATOR_SIGNS = str.maketrans(
    {"\u00d7": "*", "\u00b7": "*", "\u00f7": "/", "\u2212": "-", "\u2013": "-"}
)

_CONSTANTS = {"pi": math.pi, "e": math.e}

Number = int | float


@tool
def calculate(expression: str) -> dict[str, str]:
    """Calculate an arithmetic expression of numbers: + - * / // % ** and parentheses.

    Functions: round(x, n), abs, min, max, sqrt, log (natural; log(x, base)), exp; constants pi, e.
    Write numbers plainly: 1234.5 for 1,234.5; 0.12 for 12 %. Whole numbers are exact, others are
    rounded to 15 digits.
    Example: calculate(expression="round((1200 - 950) / 950 * 100, 1)") gives 26.3
    """
    return {"expression": expression, "value": _format_number(evaluate(expression))}


def evaluate(expression: str) -> Number:
    """Evaluate an arithmetic expression.

    Raises:
        ToolRefused: not arithmetic, too large, or without a finite real value.
    """
    if len(expression) > MAX_CHARS:
        raise ToolRefused(f"at most {MAX_CHARS} characters; calculate in several steps")
    plain = unicodedata.normalize("NFKC", expression).translate(_OPERATOR_SIGNS).strip()
    shown = repr(expression[:80])
    try:
        body = ast.parse(plain).body
        if len(body) != 1:
            raise ToolRefused("give exactly one expression, without ';' and line breaks")
        _require_numbers(body[0], shown)
        return _require_finite(_ArithmeticEvaluator().eval(plain, body[0]))
    except SyntaxError:
        raise ToolRefused(f"not an arithmetic expression: {shown}{_suggest_fix(plain)}") from None
    except OperatorNotDefined:
        raise ToolRefused(f"an operator in {shown} is not known{_suggest_fix(plain)}") from None
    except ZeroDivisionError:
        raise ToolRefused("division by zero") from None
    except (RecursionError, MemoryError):
        raise ToolRefused("nested too deeply; calculate in several steps") from None
    except (InvalidExpression, ArithmeticError, TypeError, ValueError) as error:
        raise ToolRefused(f"cannot calculate {shown}: {error}{_suggest_fix(plain)}") from None


def _require_numbers(expression: ast.stmt, shown: str) -> None:
    """Refuse an expression with a name in place of a number, such as that of a column."""
    called = [node.func for node in ast.walk(expression) if isinstance(node, ast.Call)]
    for node in ast.walk(expression):
        if isinstance(node, ast.Name) and node not in called and node.id not in _CONSTANTS:
            raise ToolRefused(
                f"cannot calculate {shown}: {node.id[:40]!r} is no number; write the numbers "
                "themselves, as you have read them"
            )


def _require_finite(value: object) -> Number:
    if type(value) not in (int, float):
        raise ToolRefused("only real numbers can be calculated with")
    assert isinstance(value, int | float)
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise ToolRefused(f"a number in it has more than {MAX_BITS} bits")
    if not isinstance(value, int) and not math.isfinite(value):
        raise ToolRefused("a number in it is too large, or not a number")
    return value


def _compute_power(base: Number, exponent: Number) -> Any:
    if abs(exponent) > MAX_EXPONENT:
        raise ToolRefused(f"the exponent is over {MAX_EXPONENT}")
    if isinstance(base, int) and base.bit_length() * abs(exponent) > 2 * MAX_BITS:
        raise ToolRefused(f"the power has more than {MAX_BITS} bits")
    return base**exponent


def _restrict_to_numbers(function: Callable[..., Any]) -> Callable[..., Number]:
    """Allow only numbers as operands and results."""
    return lambda *numbers: _require_finite(function(*map(_require_finite, numbers)))


def _round_number(number: Number, digits: int = 0) -> Number:
    if abs(digits) > 50:
        raise ToolRefused("round to at most 50 digits")
    return round(number, digits) if digits else round(number)


def _find_minimum(*numbers: Number) -> Number:
    return min(numbers)


def _find_maximum(*numbers: Number) -> Number:
    return max(numbers)


_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _compute_power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "round": _round_number,
    "abs": abs,
    "min": _find_minimum,
    "max": _find_maximum,
    "sqrt": math.sqrt,
    "log": math.log,
    "exp": math.exp,
}


class _ArithmeticEvaluator(SimpleEval):  # type: ignore[misc]
    """simpleeval, restricted to numbers."""

    nodes: dict[type[ast.AST], Callable[[Any], Any]]

    def __init__(self) -> None:
        super().__init__(
            operators={
                kind: _restrict_to_numbers(function) for kind, function in _OPERATORS.items()
            },
            functions={
                name: _restrict_to_numbers(function) for name, function in _FUNCTIONS.items()
            },
            names=_CONSTANTS,
        )
        allowed = (ast.Expr, ast.UnaryOp, ast.BinOp, ast.Call, ast.Constant, ast.Name)
        self.nodes = {kind: self.nodes[kind] for kind in allowed}

    def _eval_call(self, node: ast.Call) -> Any:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise ToolRefused("call functions by name, as round(2.345, 2)")
        return super()._eval_call(node)


def _format_number(value: Number) -> str:
    return str(value) if isinstance(value, int) else f"{value:.{FLOAT_DIGITS}g}"


def _suggest_fix(expression: str) -> str:
    if "^" in expression:
        return "; write powers with **"
    if "," in expression:
        return "; write numbers without thousands separators"
    if "%" in expression:
        return "; write 12 % as 0.12"
    if "=" in expression:
        return "; nothing can be assigned or compared"
    return ""
