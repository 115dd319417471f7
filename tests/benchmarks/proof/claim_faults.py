"""Plants one fault in a claim of prose; what it makes is checked to be really false."""

import re
from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.benchmarks.proof.figures import (
    DATE,
    MONTHS,
    Figure,
    format_date,
    format_number,
    has_value,
    list_figures,
    list_values,
    may_follow,
    read_date,
)
from tests.benchmarks.proof.quotations import holds_quotation, normalize
from tests.benchmarks.proof.statements import (
    Statement,
    state_address,
    state_computed,
    state_reordered,
    state_verbatim,
    vary,
)
from tests.benchmarks.proof.world import Text, World, quote_exactly

FaultMaker = Callable[[World, Text, Random], Statement | None]
UNITS = {
    "day": "month",
    "days": "months",
    "month": "day",
    "months": "days",
    "year": "month",
    "years": "months",
    "hours": "minutes",
    "hour": "minute",
    "minutes": "seconds",
    "seconds": "minutes",
    "second": "hour",
    "minute": "second",
    "weeks": "days",
    "ms": "s",
    "MB": "GB",
    "GB": "MB",
    "KB": "MB",
    "bytes": "kilobytes",
    "bits": "bytes",
    "miles": "metres",
    "feet": "inches",
    "percent": "dollars",
    "%": " dollars",
    "kg": "g",
}
UNIT = re.compile(rf"\)?\s?({'|'.join(sorted(UNITS, key=len, reverse=True))})(?!\w)")
INVENTED = (
    "{name} reviews the {word} every {number} weeks and reports the result to its {other}.",
    "At most {number} of the {word} may be used by {name} without a further {other}.",
    "{name} has set aside {number} hours for the {word} and its {other}.",
    "In {number} of the cases that {name} examined, the {word} caused no {other}.",
)
MIN_DISTANCE = 1_500


def replace_surface(statement: Statement, old: str, new: str) -> Statement | None:
    """Return a statement with another surface in its claim and its wording, if each has it once."""
    pattern = re.compile(rf"(?<![\w.,]){re.escape(old)}(?!\w|[.,]\d)")
    if len(pattern.findall(statement.text)) != 1 or len(pattern.findall(statement.wording)) != 1:
        return None
    text, wording = (
        pattern.sub(lambda _: new, each) for each in (statement.text, statement.wording)
    )
    return replace(statement, text=text, wording=wording)


def draw_base(sentence: str, text: Text, random: Random) -> Statement:
    """Return a claim of a sentence, verbatim or reordered, with the sentence as its quotation."""
    make = random.choice((state_verbatim, state_reordered))
    made = make(sentence, text.document, random)
    assert made is not None
    return quote_exactly(made)


def alter_digit(surface: str, random: Random) -> str:
    """Return a number with one digit changed, not its first one to zero."""
    places = [place for place, sign in enumerate(surface) if sign.isdigit()]
    place = random.choice(places)
    digits = [each for each in "123456789" if each != surface[place]]
    return surface[:place] + random.choice(digits) + surface[place + 1 :]


def _draw_figure(text: Text, random: Random) -> tuple[str, Figure] | None:
    if not text.figured:
        return None
    sentence = random.choice(text.figured)
    figures = [each for each in list_figures(sentence) if sentence.count(each.surface) == 1]
    return (sentence, random.choice(figures)) if figures else None


def _is_elsewhere(new: str, sentence: str, text: Text) -> bool:
    """Return whether a sentence that shares many words with another one has a figure."""
    words = set(re.findall(r"[a-z]{4,}", sentence.lower()))
    return any(
        new.lstrip("$€£") in each
        and len(words & set(re.findall(r"[a-z]{4,}", each.lower()))) > 0.4 * len(words)
        for each in text.sentences
    )


def plant_digit(world: World, text: Text, random: Random) -> Statement | None:
    """Change a digit of the claim; the quotation is right, or there is none."""
    found = _draw_figure(text, random)
    if found is None:
        return None
    sentence, figure = found
    new = alter_digit(figure.surface, random)
    value = float(new.replace(",", "").lstrip("$€£"))
    if may_follow(value, list_values(sentence)) or _is_elsewhere(new, sentence, text):
        return None
    base = draw_base(sentence, text, random)
    kept = base if random.random() < 0.8 else replace(base, quotation="")
    return replace_surface(kept, figure.surface, new)


def plant_other_figure(world: World, text: Text, random: Random) -> Statement | None:
    """Put a figure of another sentence of the document into a claim with a right quotation."""
    first, second = _draw_figure(text, random), _draw_figure(text, random)
    if first is None or second is None:
        return None
    sentence, figure = first
    new = second[1].surface.lstrip("$€£")
    if may_follow(second[1].value, list_values(sentence)):
        return None
    if not 0.02 * figure.value < second[1].value < 50 * figure.value:
        return None
    sign = figure.surface[0] if figure.surface[0] in "$€£" else ""
    return replace_surface(draw_base(sentence, text, random), figure.surface, sign + new)


def plant_unit(world: World, text: Text, random: Random) -> Statement | None:
    """Give a figure of the claim another unit."""
    found = _draw_figure(text, random)
    if found is None:
        return None
    sentence, figure = found
    if figure.surface[0] == "$":
        return replace_surface(
            draw_base(sentence, text, random), figure.surface, "€" + figure.surface[1:]
        )
    unit = UNIT.match(sentence, figure.start + len(figure.surface))
    if unit is None:
        return None
    old, new = figure.surface + unit[0], figure.surface + unit[0].replace(unit[1], UNITS[unit[1]])
    if new.split()[-1] in sentence.split():
        return None
    base = draw_base(sentence, text, random)
    if base.text.count(old) != 1 or base.wording.count(old) != 1:
        return None
    return replace(base, text=base.text.replace(old, new), wording=base.wording.replace(old, new))


def plant_scale(world: World, text: Text, random: Random) -> Statement | None:
    """Write a large figure of the claim with a scale a thousand times too large."""
    found = _draw_figure(text, random)
    if found is None or found[1].value < 1_000 or "," not in found[1].surface:
        return None
    sentence, figure = found
    large = figure.value >= 1e6
    number = f"{figure.value / (1e6 if large else 1e3):g}"
    sign = figure.surface[0] if figure.surface[0] in "$€£" else ""
    new = f"{sign}{number} {'billion' if large else 'million'}"
    return replace_surface(draw_base(sentence, text, random), figure.surface, new)


def plant_date(world: World, text: Text, random: Random) -> Statement | None:
    """Change the day, the month or the year of a date of the claim."""
    texts = [each for each in world.texts if each.dated]
    text = text if text.dated else random.choice(texts)
    sentence = random.choice(text.dated)
    match = random.choice(list(DATE.finditer(sentence)))
    year, month, day = read_date(match)
    if not 1 <= month <= 12:
        return None
    part = random.randrange(3)
    year += random.choice((-2, -1, 1, 2)) if part == 0 else 0
    month = random.choice([each for each in range(1, 13) if each != month]) if part == 1 else month
    day = random.choice([each for each in range(1, 29) if each != day]) if part == 2 else day
    new = format_date(year, month, day, random.randrange(4))
    same = [format_date(year, month, day, style) for style in range(4)]
    if any(each in sentence for each in same) or _mixes_dates(sentence, year, month, day):
        return None
    return replace_surface(draw_base(sentence, text, random), match[0], new)


def _mixes_dates(sentence: str, year: int, month: int, day: int) -> bool:
    """Return whether month and year of a date are in a sentence with no date that is altered."""
    return len(DATE.findall(sentence)) > 1 and f"{MONTHS[month - 1]} {day}, {year}" in sentence


def plant_name(world: World, text: Text, random: Random) -> Statement | None:
    """Put another name into the claim."""
    if not text.names:
        return None
    name = random.choice(sorted(text.names))
    sentence = text.names[name]
    new = world.draw_name(sentence, random)
    if sentence.count(name) != 1 or new.lower() in name.lower() or name.lower() in new.lower():
        return None
    return replace_surface(draw_base(sentence, text, random), name, new)


def plant_address(world: World, text: Text, random: Random) -> Statement | None:
    """Change an address of the claim."""
    texts = [each for each in world.texts if each.addresses]
    text = text if text.addresses else random.choice(texts)
    line = random.choice(text.addresses)
    made = state_address(line, text.document, random)
    if made is None:
        return None
    new = alter_address(made.figure, random)
    if new in text.document.text:
        return None
    return replace_surface(quote_exactly(made), made.figure, new)


def alter_address(address: str, random: Random) -> str:
    """Return an address with another part: its user, its host or its path."""
    if "@" in address:
        user, _, host = address.partition("@")
        return random.choice((f"support@{host}", f"{user}@{host.replace('.', '-mail.', 1)}"))
    scheme, _, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    if path and random.random() < 0.5:
        return f"{scheme}://{host}/{path.rsplit('/', 1)[0]}/archive"
    name, _, ending = host.rpartition(".")
    return f"{scheme}://{name}-project.{ending}{slash}{path}"


def plant_arithmetic(world: World, text: Text, random: Random) -> Statement | None:
    """State a wrong sum, difference or ratio of two figures of the quotation."""
    text, sentence = random.choice(world.computable)
    made = state_computed(sentence, text.document, random)
    if made is None:
        return None
    value = float(made.figure.replace(",", ""))
    decimals = len(made.figure.partition(".")[2])
    new = format_number(value * random.choice((0.55, 0.8, 0.9, 1.1, 1.25, 1.4)), decimals)
    if may_follow(float(new.replace(",", "")), made.values):
        return None
    return replace_surface(quote_exactly(made), made.figure, new)


def plant_invented_quotation(world: World, text: Text, random: Random) -> Statement | None:
    """Invent a sentence of the document, and claim what it says."""
    name = random.choice(sorted(text.names) or ["The group"])
    word, other = random.sample(text.nouns, 2)
    number = random.choice((14, 37, 58, 120, 260, 4_300))
    form = random.choice(INVENTED)
    sentence = form.format(name=name, word=word, other=other, number=f"{number:,}")
    made = Statement(sentence, vary(sentence, random), text.document.name, sentence)
    return quote_exactly(made)


def plant_altered_quotation(world: World, text: Text, random: Random) -> Statement | None:
    """Change one word or one digit of the quotation."""
    figured = _draw_figure(text, random) if random.random() < 0.5 else None
    if figured:
        sentence, figure = figured
        new = alter_digit(figure.surface, random)
        altered = sentence.replace(figure.surface, new)
        if may_follow(float(new.replace(",", "").lstrip("$€£")), list_values(sentence)):
            return None
        made = Statement(altered, vary(altered, random), text.document.name, altered)
    else:
        sentence = random.choice(text.sentences)
        words = [
            each for each in re.findall(r"\b[a-z]{6,}\b", sentence) if sentence.count(each) == 1
        ]
        if not words:
            return None
        altered = sentence.replace(random.choice(words), random.choice(text.words))
        made = Statement(sentence, vary(sentence, random), text.document.name, altered)
    if normalize(altered) in normalize(text.document.text):
        return None
    return quote_exactly(made)


def plant_stitched_quotation(world: World, text: Text, random: Random) -> Statement | None:
    """Join parts of two distant sentences to one quotation."""
    left, right = random.sample(text.sentences, 2)
    whole = " ".join(text.document.text.split())
    begin, end = whole.find(left), whole.find(right)
    if begin < 0 or end < 0 or abs(begin - end) < MIN_DISTANCE:
        return None
    heads, tails = left.rstrip(".").split(), right.split()
    joint = random.choice(("", "", "…"))
    if joint and begin < end:
        begin, end, heads, tails = end, begin, tails, heads
    parts = (*heads[: max(5, len(heads) // 2)], joint, *tails[-max(5, len(tails) // 2) :])
    stitched = " ".join(each for each in parts if each).rstrip(".") + "."
    if holds_quotation(text.document.text, stitched):
        return None
    claim = stitched.replace(" …", "")
    return Statement(claim, vary(claim, random), text.document.name, stitched, stitched)


def plant_swapped_source(world: World, text: Text, random: Random) -> Statement | None:
    """Name another document that was read as the source of a right quotation."""
    made = draw_base(random.choice(text.figured or text.sentences), text, random)
    other = random.choice([each for each in world.texts if each is not text])
    if holds_quotation(other.document.text, made.evidence):
        return None
    return replace(made, source=other.document.name)


def plant_unread_source(world: World, text: Text, random: Random) -> Statement | None:
    """Name a source that nobody read; with a quotation that is in another one, or without."""
    made = draw_base(random.choice(text.figured or text.sentences), text, random)
    stem, _, ending = made.source.rpartition(".")
    source = random.choice((f"annual_report.{ending}", f"{stem}_2019.{ending}", "minutes.pdf"))
    return replace(made, source=source, quotation=random.choice((made.quotation, "")))


PROSE_FAULTS: dict[str, FaultMaker] = {
    "invented quotation": plant_invented_quotation,
    "altered quotation": plant_altered_quotation,
    "stitched quotation": plant_stitched_quotation,
    "swapped source": plant_swapped_source,
    "unread source": plant_unread_source,
    "altered digit": plant_digit,
    "another figure": plant_other_figure,
    "another unit": plant_unit,
    "another scale": plant_scale,
    "another date": plant_date,
    "another name": plant_name,
    "another address": plant_address,
    "wrong arithmetic": plant_arithmetic,
}


def is_value_free(value: float, statements: list[Statement]) -> bool:
    """Return whether a value is in no statement and follows from no figure of one."""
    texts = (f"{each.text} {each.evidence} {each.source}" for each in statements)
    return not any(has_value(value, list_values(text)) for text in texts)
