"""Writes the answer to a report in Markdown, and plants faults that are in the answer only."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from tests.benchmarks.proof.claim_faults import alter_address, alter_digit, is_value_free
from tests.benchmarks.proof.figures import has_value, list_figures, list_values, may_follow
from tests.benchmarks.proof.statements import Statement

LAYOUTS = ("prose", "bullets", "numbered", "table", "link", "code")
HEADS = ("## What was found", "The documents say the following:", "# Summary", "**Result**")
TAILS = ("Nothing else was found.", "No other statement of the documents bears on this.")


@dataclass(frozen=True)
class Line:
    """A line of an answer."""

    text: str
    claim: int | None = None
    """The claim that it says, if it says one."""


def write_answer(statements: Sequence[Statement], layout: str, random: Random) -> list[Line]:
    """Return an answer that says each claim in its wording, with its source."""
    lines = [Line(random.choice(HEADS)), Line("")]
    if layout == "table":
        lines += [Line("| statement | source |"), Line("|---|---|")]
    for claim, statement in enumerate(statements):
        lines.append(Line(write_line(statement, layout, claim), claim))
        if layout == "code" and claim == 0:
            lines[-1:] = [Line("```"), Line(statement.wording, 0), Line("```")]
        elif layout == "prose":
            lines.append(Line(""))
    if random.random() < 0.4:
        lines += [Line(""), Line(random.choice(TAILS))]
    return lines


def write_line(statement: Statement, layout: str, claim: int) -> str:
    """Return a statement as a line of a layout; in `code`, of bullets."""
    if layout == "table":
        return f"| {statement.wording.rstrip('.')} | {statement.source} |"
    if layout == "link":
        return f"- [{statement.wording.rstrip('.')}]({statement.source})"
    said = f"{statement.wording.rstrip('.')} ({statement.source})."
    return {"prose": said, "numbered": f"{claim + 1}. {said}"}.get(layout, f"- {said}")


AnswerFault = Callable[[list[Statement], list[Line], Random], tuple[int, str] | None]
"""Returns the index of the line that is replaced or added before, and its new text."""


def _draw_line(lines: Sequence[Line], random: Random) -> int:
    return random.choice([at for at, line in enumerate(lines) if line.claim is not None])


def plant_added_figure(
    statements: list[Statement], lines: list[Line], random: Random
) -> tuple[int, str] | None:
    """Add a figure to a line that none of the claims has."""
    value = random.choice((14, 23, 37, 140, 260, 4_300, 75_000))
    if not is_value_free(value, statements):
        return None
    forms = (
        "and takes {} months",
        "which concerns about {} users",
        "at a cost of {} EUR",
        "as {} of the partners confirmed",
    )
    return _extend(lines, ", " + random.choice(forms).format(f"{value:,}"), random)


def _extend(lines: Sequence[Line], addition: str, random: Random) -> tuple[int, str]:
    """Put words into a line, before its source."""
    at = _draw_line(lines, random)
    text = lines[at].text
    places = [place for mark in (" | ", "](", " (") if (place := text.rfind(mark)) > 0]
    place = text.rfind("](") if "](" in text else text.rfind(" | ") if text[0] == "|" else 0
    place = place or (places[-1] if places else len(text))
    return at, text[:place] + addition + text[place:]


def plant_words(
    statements: list[Statement], lines: list[Line], random: Random
) -> tuple[int, str] | None:
    """Add a figure in words that nothing supports."""
    value, words = random.choice(
        (
            (1 / 3, "about a third of the total"),
            (0.25, "a quarter of the whole"),
            (75_000, "some seventy-five thousand in all"),
            (1 / 7, "one in seven of all cases"),
            (250_000, "a quarter of a million together"),
            (3, "more than three times the earlier value"),
            (17, "seventeen more than before"),
        )
    )
    texts = [f"{each.text} {each.evidence}" for each in statements]
    if not is_value_free(value, statements):
        return None
    if any(may_follow(value, list_values(text)) for text in texts):
        return None
    return _extend(lines, f", {words}", random)


def plant_wrong_figure(
    statements: list[Statement], lines: list[Line], random: Random
) -> tuple[int, str] | None:
    """Change a digit of a figure in a line."""
    coded = [at for at, line in enumerate(lines) if line.text == "```"]
    at = coded[0] + 1 if coded else _draw_line(lines, random)
    claim = lines[at].claim
    assert claim is not None
    statement = statements[claim]
    figures = [each for each in list_figures(statement.wording) if each.value > 0]
    if not figures:
        return None
    figure = random.choice(figures)
    new = alter_digit(figure.surface, random)
    value = float(new.replace(",", "").lstrip("$€£"))
    given = {*list_values(f"{statement.text} {statement.evidence}"), *statement.values}
    if may_follow(value, given) or lines[at].text.count(figure.surface) != 1:
        return None
    return at, lines[at].text.replace(figure.surface, new)


def plant_said_quotation(
    statements: list[Statement], lines: list[Line], random: Random
) -> tuple[int, str] | None:
    """Add words in quotation marks that nobody wrote."""
    words = re.findall(r"[a-z]{5,}", " ".join(each.evidence for each in statements).lower())
    if len(words) < 2:
        return None
    first, second = random.sample(words, 2)
    forms = (
        f"the {first} has never been tested with any {second} so far",
        f"no {first} may be approved before the {second} is complete",
        f"we regard the {first} as the main reason for this {second}",
    )
    opening, closing = random.choice(('""', "“”"))
    return _extend(lines, f"; it adds: {opening}{random.choice(forms)}{closing}", random)


def plant_said_address(
    statements: list[Statement], lines: list[Line], random: Random
) -> tuple[int, str] | None:
    """Add an address that nothing has."""
    address = random.choice(
        ("https://data.acme-reports.org/2021", "help@acme-reports.org", "www.acme-reports.org/faq")
    )
    known = [each.figure for each in statements if each.form.startswith("address")]
    if known and random.random() < 0.5:
        address = alter_address(known[0], random)
    return _extend(lines, f", see {address}", random)


def plant_other_subject(
    statements: list[Statement], lines: list[Line], random: Random
) -> tuple[int, str] | None:
    """Give a claim the figure of another one."""
    rows = [at for at, each in enumerate(statements) if each.form == "cell" and each.figure]
    pairs = [
        (left, right)
        for left in rows
        for right in rows
        if statements[left].column == statements[right].column
        and statements[left].subject != statements[right].subject
    ]
    if not pairs:
        return None
    left, right = random.choice(pairs)
    own, other = statements[left].figure, statements[right].figure
    at = next(place for place, line in enumerate(lines) if line.claim == left)
    if has_value(statements[right].values[0], statements[left].values):
        return None
    if own == other or lines[at].text.count(own) != 1 or other in lines[at].text:
        return None
    return at, lines[at].text.replace(own, other)


ANSWER_FAULTS: dict[str, tuple[AnswerFault, tuple[str, ...]]] = {
    "figure only in the answer": (plant_added_figure, ("prose", "bullets", "numbered", "table")),
    "figure in words in the answer": (plant_words, ("prose", "bullets", "numbered", "table")),
    "figure in a table of the answer": (plant_wrong_figure, ("table",)),
    "figure in a code block of the answer": (plant_wrong_figure, ("code",)),
    "figure in a link of the answer": (plant_wrong_figure, ("link",)),
    "quotation in the answer": (plant_said_quotation, LAYOUTS[:4]),
    "address in the answer": (plant_said_address, LAYOUTS[:4]),
    "another subject in the answer": (plant_other_subject, LAYOUTS[:4]),
}
"""By kind: how it is planted, and in which layouts."""


def plant_line(lines: Sequence[Line], at: int, text: str) -> list[Line]:
    """Return lines with another text of one of them."""
    return [replace(line, text=text) if place == at else line for place, line in enumerate(lines)]
