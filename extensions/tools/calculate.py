"""Arithmetic, and nothing else."""

import ast
import math
import operator
import unicodedata
from collections.abc import Callable
from typing import Any

from langchain_core.tools import tool

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
        return _compute(body[0])
    except ZeroDivisionError:
        raise ToolRefused("division by zero") from None
    except (RecursionError, MemoryError):
        raise ToolRefused("nested too deeply; calculate in several steps") from None
    except _NotArithmetic as error:
        raise ToolRefused(f"cannot calculate {shown}: {error}{_suggest_fix(plain)}") from None
    except (SyntaxError, ArithmeticError, TypeError, ValueError) as error:
        cause = "no arithmetic expression" if isinstance(error, SyntaxError) else error
        raise ToolRefused(f"cannot calculate {shown}: {cause}{_suggest_fix(plain)}") from None


class _NotArithmetic(Exception):
    """A part of an expression is neither a number nor computes one."""


def _compute(node: ast.AST) -> Number:
    """Return the value of a part of an expression; its own parts are finite numbers, too."""
    match node:
        case ast.Expr(value=value):
            return _compute(value)
        case ast.Constant(value=value):
            return _require_finite(value)
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _require_finite(_OPERATORS[type(op)](_compute(operand)))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _require_finite(_OPERATORS[type(op)](_compute(left), _compute(right)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _require_finite(_FUNCTIONS[name](*map(_compute, args)))
        case ast.Name(id=name):
            raise _NotArithmetic(
                f"{name[:40]!r} is no number; write the numbers themselves, as you have read them"
            )
    raise _NotArithmetic("only numbers, operators and functions, as round(2.345, 2), may be in it")


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


def _round_number(number: Number, digits: int = 0) -> Number:
    if abs(digits) > 50:
        raise ToolRefused("round to at most 50 digits")
    return round(number, digits) if digits else round(number)


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
    "min": lambda *numbers: min(numbers),
    "max": lambda *numbers: max(numbers),
    "sqrt": math.sqrt,
    "log": math.log,
    "exp": math.exp,
}


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
