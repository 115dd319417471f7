"""Writes a true quotation as models and PDFs do, and a document as a PDF gives it."""

import re
import textwrap
from random import Random

LONG_WORD = re.compile(r"[A-Za-z][a-z]{8,}")
WIDTH = 76
PLAIN_MARKS = {0x201C: '"', 0x201D: '"', 0x2018: "'", 0x2019: "'", 0x2013: "-", 0x2014: "-"}


def vary_quotation(sentence: str, random: Random) -> tuple[str, str]:
    """Return a quotation of a sentence, and in which way it differs from it."""
    ways = {
        "exact": lambda: sentence,
        "white space": lambda: _wrap(sentence, random),
        "hyphenation": lambda: hyphenate(sentence, random, 1),
        "typography": lambda: set_marks(sentence),
        "ellipsis": lambda: _shorten(sentence, random),
    }
    way = random.choices(list(ways), weights=(5, 1, 1, 1, 1))[0]
    return ways[way](), way


def set_marks(text: str) -> str:
    """Return a text with typographic quotation marks, apostrophes and dashes."""
    text = re.sub(r"(?<![\w)])\"(?=\w)", "\u201c", text).replace('"', "\u201d")
    text = re.sub(r"(?<=\w)'", "\u2019", text)
    return re.sub(r"(?<= )-(?= )", "\u2013", text)


def _wrap(sentence: str, random: Random) -> str:
    width = random.choice((40, 60, 72))
    lines = textwrap.wrap(sentence, width, break_on_hyphens=False, break_long_words=False)
    return "\n   ".join(lines)


def hyphenate(text: str, random: Random, count: int) -> str:
    """Return a text with so many long words divided at a line's end."""
    words = list(LONG_WORD.finditer(text))
    for match in sorted(random.sample(words, min(count, len(words))), key=re.Match.start)[::-1]:
        middle = match.start() + len(match[0]) // 2
        text = f"{text[:middle]}-\n{text[middle:]}"
    return text


def _shorten(sentence: str, random: Random) -> str:
    """Return a sentence with a few words of its middle, none of them a figure, left out."""
    words = sentence.split()
    places = [
        place
        for place in range(3, len(words) - 6)
        if not any(re.search(r"\d", word) for word in words[place : place + 3])
    ]
    if not places:
        return sentence
    place, sign = random.choice(places), random.choice(("…", "...", "[…]", "[...]"))
    return " ".join((*words[:place], sign, *words[place + 3 :]))


def print_as_pdf(text: str, random: Random) -> str:
    """Return a text in short lines, some long words divided at the ends of lines."""
    paragraphs = [" ".join(each.split()) for each in re.split(r"\n\s*\n", text)]
    return "\n\n".join(_print_paragraph(each, random) for each in paragraphs)


def _print_paragraph(text: str, random: Random) -> str:
    lines, line = list[str](), ""
    for word in text.split():
        if len(line) + len(word) < WIDTH:
            line = f"{line} {word}".strip()
        elif LONG_WORD.fullmatch(word) and random.random() < 0.6:
            middle = len(word) // 2
            lines.append(f"{line} {word[:middle]}-")
            line = word[middle:]
        else:
            lines.append(line)
            line = word
    return "\n".join((*lines, line))


def normalize(text: str) -> str:
    """Return a text without what may differ in a quotation: breaks, typographic marks, case."""
    text = re.sub(r"(?<=[a-z])-\s*\n\s*(?=[a-z])", "", text)
    return " ".join(text.translate(PLAIN_MARKS).split()).lower()


def holds_quotation(text: str, quotation: str) -> bool:
    """Return whether the parts of a quotation between ellipses are in a text, in their order."""
    whole, begin = normalize(text), 0
    for part in re.split(r"\[?(?:…|\.\.\.)\]?", quotation):
        found = whole.find(normalize(part), begin)
        if found < 0:
            return False
        begin = found + len(normalize(part))
    return True
