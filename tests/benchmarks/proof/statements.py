"""Makes true statements of the sentences of a document: the claim, and an answer's words for it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random

from tests.benchmarks.proof.documents import Document
from tests.benchmarks.proof.figures import (
    DATE,
    Figure,
    format_date,
    format_number,
    list_figures,
    list_values,
    read_date,
)

URL = re.compile(r"https?://[\w.-]+\.[a-z]{2,}(?:/[\w./-]*\w)?|\b[\w.-]+@[\w-]+\.[a-z]{2,}\b")
LEADING = re.compile(
    r"((?:In|On|From|By|Until|As of|For|At|During|After|Before|Since|With|Under)"
    r"\s[^,;:()]{3,45}),\s"
    r"((?:the|a|an|this|these|it|you|we|all|any|each|such|no|there)\s.+)\."
)
LOWERED = {
    *("The", "This", "These", "It", "If", "All", "In", "On", "A", "An", "You", "We", "There"),
    *("For", "When", "Any", "Each", "Such", "No", "By", "As", "To", "With", "At", "Unless"),
}
INTRODUCTIONS = (
    "According to the document, {}",
    "The document states that {}",
    "It is said there that {}",
    "As the text has it, {}",
)
SHARES = ("%", "percent", "per cent")
YEAR = "year"
NO_UNITS = ("is", "was", "has", "this", "its", "versions", "releases", "as", "does", "plus")
UNIT = re.compile(r"\)?[\s-]?(%|percent|per cent|[a-z]{3,})")


@dataclass(frozen=True)
class Statement:
    """One claim of a report, with what it is made from."""

    text: str
    wording: str
    """The same in an answer's words."""
    source: str
    evidence: str
    """The sentence of the document, or the row of the table."""
    quotation: str = ""
    form: str = "verbatim"
    """How the claim was made."""
    subject: str = ""
    """The row of a table."""
    column: str = ""
    figure: str = ""
    """Of a computed claim or a table's, its figure."""
    values: tuple[float, ...] = ()
    """What a computed figure is computed from."""


def vary(sentence: str, random: Random) -> str:
    """Return a sentence with its first clause at the end, or introduced."""
    if match := LEADING.fullmatch(sentence):
        first = match[1][0].lower() + match[1][1:]
        return f"{match[2][0].upper()}{match[2][1:]} {first}."
    first_word = sentence.split(maxsplit=1)[0]
    lowered = sentence[0].lower() + sentence[1:] if first_word in LOWERED else sentence
    return random.choice(INTRODUCTIONS).format(lowered)


def state_verbatim(sentence: str, document: Document, random: Random) -> Statement | None:
    """Return a claim that is the sentence."""
    return Statement(sentence, vary(sentence, random), document.name, sentence)


def state_reordered(sentence: str, document: Document, random: Random) -> Statement | None:
    """Return a claim in other words than the sentence."""
    text = vary(sentence, random)
    return Statement(text, sentence, document.name, sentence, form="reordered")


def state_reformatted(sentence: str, document: Document, random: Random) -> Statement | None:
    """Return a claim with a number written in another way: `2 million`, `5000`, `50 percent`."""
    text = re.sub(r"\b[Tt]hirty \((\d+)\)", r"\1", sentence)
    text = re.sub(r"(\d)%", r"\1 percent", text)
    for figure in reversed(list_figures(text)):
        if figure.value >= 1_000 and "," in figure.surface:
            end = figure.start + len(figure.surface)
            text = text[: figure.start] + _shorten(figure) + text[end:]
        elif figure.decimals and _find_unit(text, figure) in SHARES and figure.surface[0].isdigit():
            end = figure.start + len(figure.surface)
            rounded = f"about {figure.value:.{figure.decimals - 1}f}"
            text = text[: figure.start] + rounded + text[end:]
    if text == sentence:
        return None
    return Statement(text, vary(sentence, random), document.name, sentence, form="reformatted")


def _shorten(figure: Figure) -> str:
    sign = figure.surface[0] if figure.surface[0] in "$€£" else ""
    for word, scale in (("million", 1e6), ("thousand", 1e3)):
        if figure.value >= scale and (figure.value / scale * 10).is_integer():
            return f"{sign}{figure.value / scale:g} {word}"
    return figure.surface.replace(",", "")


def state_dated(sentence: str, document: Document, random: Random) -> Statement | None:
    """Return a claim whose dates are written in another way than the sentence has them."""
    styles = random.sample(range(4), 2)

    def rewrite(style: int) -> str:
        return DATE.sub(lambda match: format_date(*read_date(match), style), sentence)

    if any(not 1 <= read_date(match)[1] <= 12 for match in DATE.finditer(sentence)):
        return None
    text, wording = map(rewrite, styles)
    if sentence in (text, wording):
        return None
    return Statement(text, vary(wording, random), document.name, sentence, form="dated")


def state_computed(sentence: str, document: Document, random: Random) -> Statement | None:
    """Return a claim that adds the sum, difference or ratio of two figures of one unit."""
    figures = list_figures(sentence)
    pairs = [
        (left, right, unit)
        for left, right in combinations(figures, 2)
        if left.decimals == right.decimals == 0 or _find_unit(sentence, left) in SHARES
        if (unit := _find_unit(sentence, left)) == _find_unit(sentence, right) and unit
        if left.value != right.value and min(left.value, right.value) > 0
    ]
    if not pairs:
        return None
    left, right, unit = random.choice(pairs)
    phrase, figure = _compute(left, right, unit, random)
    text = f"{sentence[:-1]}, {phrase}."
    wording = f"{vary(sentence, random)[:-1]}; that is {phrase}."
    made = Statement(text, wording, document.name, sentence, form="computed", figure=figure)
    return replace(made, values=tuple(list_values(sentence)))


def _find_unit(sentence: str, figure: Figure) -> str:
    if figure.surface[0] in "$€£":
        return figure.surface[0]
    if 1900 <= figure.value <= 2100 and len(figure.surface) == 4:
        return YEAR
    found = UNIT.match(sentence, figure.start + len(figure.surface))
    is_unit = found is not None and (found[1][-1] in "%s" or found[1].startswith("per"))
    return found[1] if found and is_unit and found[1] not in NO_UNITS else ""


def _compute(left: Figure, right: Figure, unit: str, random: Random) -> tuple[str, str]:
    high, low = max(left.value, right.value), min(left.value, right.value)
    decimals = max(left.decimals, right.decimals)
    kinds = ("difference", "sum", "ratio", "growth", "share") if high / low >= 1.2 else ("sum",)
    kind = random.choice(kinds)
    if unit == YEAR:
        return f"a span of {high - low:.0f} years", f"{high - low:.0f}"
    shares = {
        "ratio": ("a ratio of {}", f"{high / low:.1f}"),
        "growth": ("the larger one {}% more", f"{100 * (high / low - 1):.0f}"),
        "share": ("the smaller one {}% of the larger", f"{100 * low / high:.0f}"),
    }
    if kind in shares:
        phrase, figure = shares[kind]
        return phrase.format(figure), figure
    number = format_number(high - low if kind == "difference" else high + low, decimals)
    shown = f"{unit}{number}" if unit in "$€£" else f"{number}{' ' * (unit != '%')}{unit}"
    return f"{'a difference of' if kind == 'difference' else 'together'} {shown}", number


def state_address(line: str, document: Document, random: Random) -> Statement | None:
    """Return a claim about the one address of a line of a document."""
    found = URL.findall(line)
    if len(found) != 1:
        return None
    address = found[0]
    text = f"The document gives the address {address}."
    wording = random.choice((f"The address given is {address}.", f"See {address}."))
    return Statement(text, wording, document.name, line, form="address", figure=address)


Maker = Callable[[str, Document, Random], Statement | None]
MAKERS: tuple[Maker, ...] = (
    *(state_verbatim, state_reordered, state_reformatted, state_dated, state_computed),
)


def list_address_lines(document: Document) -> list[str]:
    """Return the lines of a text with one address and some words."""
    lines = [" ".join(line.split()) for line in document.text.splitlines()]
    return [
        line
        for line in dict.fromkeys(lines)
        if 30 <= len(line) <= 200 and len(URL.findall(line)) == 1 and line.count("//") <= 1
        if not re.search(r"[|`<>\\*\[\]!]|&\w+;", line)
    ]
