"""Read a product's features from its page: a sheet below its title, or sections on features."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Literal

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line

MAX_NAME_CHARS: Final = 60
MAX_NAME_WORDS: Final = 6
MAX_VALUE_CHARS: Final = 160
MAX_ITEM_CHARS: Final = 100
"""Limit of an item of a list that is a feature without a value."""
CLAIM_SEPARATOR: Final = " \N{EM DASH} "
"""Separates a product and what is stated of it, in a claim."""
STATED_VALUE: Final = "stated"
"""Value of a feature that a list names without one."""

Section = Literal["sheet", "features", "other"]

_HEADING: Final = Pattern(r"(#{1,6})\s++(.+?)[\s#]*+")
_UNDERLINE: Final = Pattern(r"(?:=+|-{3,})")
_FENCE: Final = Pattern(r"(?:```|~~~).*")
_TABLE_RULE: Final = Pattern(r"\|?[\s:|-]+\|[\s:|-]*")
_BULLET: Final = Pattern(r"[-*+]\s++(.+)", re.DOTALL)
_NUMBERED: Final = Pattern(r"(?<!\d)\d++[.)]\s")
_SENTENCE_END: Final = Pattern(r"(?<=[.!?])\s")
_PAIR: Final = Pattern(
    r"^\**+([^:|*]{2,60}?)\**+\s*+(?::|[\N{EN DASH}\N{EM DASH}]|(?<=[*\s])-(?=\s))\**+\s++(\S.*)",
    re.DOTALL,
)
_FEATURE_CLAIM: Final = Pattern(rf"(.+?){CLAIM_SEPARATOR}([^:]+): (.+)", re.DOTALL)
_LINK: Final = Pattern(r"!?\[([^\]\[]*+)\]\([^()]*+\)|<[^<>]*+>")
_FEATURE_HEADING: Final = Pattern(
    r"\b(?:features?|capabilit\w*|highlights|specifications?|specs|pricing|can do)\b|^why\b", re.I
)
_OTHER_HEADING: Final = Pattern(
    r"\b(?:not|un\w*|planned|missing|future|upcoming|removed|deprecated|requests?|comparison"
    r"|flags?)\b|n['\N{RIGHT SINGLE QUOTATION MARK}]t\b",
    re.I,
)
_SECTION_TITLE: Final = Pattern(
    r"^(?:about|change ?log|contents|documentation|faq|getting started|install\w*|introduction"
    r"|licen[cs]e|news|overview|quick ?start|read ?me|release notes|summary|table of contents|usage"
    r"|welcome)\b.*|^\d.*|^.*[.?!]",
    re.I,
)
_FILE_WORDS: Final = frozenset(("readme", "feature", "features", "product", "page"))
"""Words of a file's name that do not name the product."""
_NOT_FEATURES: Final = frozenset(("source", "sources", "note", "notes", "updated", "see", "http"))


@dataclass(frozen=True)
class Feature:
    """A feature of a product as its page states it."""

    product: str
    name: str
    value: str
    line: int
    """Line number, counted from 1."""
    quote: str

    @property
    def claim(self) -> str:
        """Return it as a claim, which `parse_claim` can parse again."""
        return f"{self.product}{CLAIM_SEPARATOR}{self.name}: {self.value}"


def extract_features(text: str, file: str) -> list[Feature]:
    """Return the features that a page states; of a name that occurs twice the first counts."""
    lines, found = text.splitlines(), dict[str, Feature]()
    product = find_product_name(lines, file)
    for number, section in _list_content_lines(lines, product):
        block = _read_block(lines, number)
        following = lines[number].strip() if number < len(lines) else ""
        pair = _read_feature(block, following, section)
        key = normalize_name(pair[0]) if pair else ""
        if pair and key and key not in found and key.split(" ")[0] not in _NOT_FEATURES:
            found[key] = Feature(product, pair[0], pair[1][:MAX_VALUE_CHARS], number, block)
    return list(found.values())


def find_product_name(lines: list[str], file: str) -> str:
    """Return the title of a page if it is a name, else the name of its file or folder.

    The title is the heading of the first level, or of any level on the first line.
    """
    headings = [(level, name) for _, level, name in _list_headings(lines)]
    opening = next((n for n, line in enumerate(lines, start=1) if line.strip()), 0)
    first = [name for n, _, name in _list_headings(lines) if n == opening]
    for title in [*(name for level, name in headings if level == 1)][:1] + first:
        name = Pattern(r" [-\N{EN DASH}\N{EM DASH}]{1,3} |: ").split(title)[0].strip()
        if name and len(name.split()) <= MAX_NAME_WORDS and not _SECTION_TITLE.fullmatch(name):
            return name
    path = PurePosixPath(file)
    words = path.stem.replace("_", " ").replace("-", " ").split()
    stem = " ".join(word for word in words if word.lower() not in _FILE_WORDS)
    return stem or path.parent.name or path.stem


def parse_claim(claim: str) -> tuple[str, str, str] | None:
    """Parse product, feature and value from a claim; None if it has another form."""
    found = _FEATURE_CLAIM.fullmatch(claim.strip())
    return (found[1].strip(), found[2].strip(), found[3].strip()) if found else None


def normalize_name(name: str) -> str:
    """Normalize a feature's name, so that case and punctuation make no difference."""
    return " ".join(Pattern(r"[\W_]+").sub(" ", name.casefold()).split())


def _list_headings(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the number, level and text of each heading outside of code blocks."""
    is_code = False
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        is_code ^= bool(_FENCE.fullmatch(text))
        following = lines[number].strip() if number < len(lines) else ""
        if is_code or not text:
            continue
        if found := _HEADING.fullmatch(text):
            yield number, len(found[1]), _strip_markup(found[2])
        elif _UNDERLINE.fullmatch(following) and not _is_block(text):
            yield number, 1 if following[0] == "=" else 2, _strip_markup(text)


def _is_block(text: str) -> bool:
    return text[0] in "|>-*+" or bool(_TABLE_RULE.fullmatch(text))


def _list_content_lines(lines: list[str], product: str) -> Iterator[tuple[int, Section]]:
    """Yield the numbers of lines that are no headings and no code, with the kind of section."""
    headings = {number: (level, name) for number, level, name in _list_headings(lines)}
    section: Section = "sheet"
    depth, is_code = 0, False
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        is_fence = bool(_FENCE.fullmatch(text))
        is_code ^= is_fence
        if number in headings:
            level, name = headings[number]
            if _FEATURE_HEADING.search(name) and not _OTHER_HEADING.search(name):
                section, depth = "features", level
            elif section != "features" or level <= depth:
                section = "sheet" if name.startswith(product) and not depth else "other"
                depth = depth or level
        elif text and not (is_code or is_fence or _UNDERLINE.fullmatch(text)):
            yield number, section


def _read_block(lines: list[str], number: int) -> str:
    """Return a line; of an item of a list also the indented lines that continue it."""
    block = [lines[number - 1].strip()]
    if _BULLET.fullmatch(block[0]):
        for line in lines[number:]:
            text = line.strip()
            if line[:1] not in (" ", "\t") or not text or _is_block(text):
                break
            block.append(line)
    return "\n".join(block).strip()


def _read_feature(text: str, following: str, section: Section) -> tuple[str, str] | None:
    """Return the name and value of a feature that a line states."""
    if section == "other" or _TABLE_RULE.fullmatch(text) or _NUMBERED.match(text):
        return None
    if text.startswith("|"):
        cells = [_strip_markup(cell) for cell in text.strip("|").split("|")]
        is_header = bool(_TABLE_RULE.fullmatch(following))
        return _check_pair(cells[0], cells[1]) if len(cells) == 2 and not is_header else None
    bullet = _BULLET.fullmatch(text)
    plain = _LINK.sub(r"\1", bullet[1] if bullet else text)
    matched = _PAIR.fullmatch(plain)
    pair = _check_pair(*map(_strip_markup, matched.groups())) if matched else None
    if bullet:
        return pair or (_name_item(plain) if section == "features" else None)
    return pair if pair and not pair[1].endswith((".", "!", "?", ",")) else None


def _name_item(item: str) -> tuple[str, str] | None:
    """Return an item of a list of features as a name, without a value."""
    name = _SENTENCE_END.split(_strip_markup(item))[0].replace(":", "").rstrip(".,; ")
    if len(name) > MAX_ITEM_CHARS:
        name = name[:MAX_ITEM_CHARS].rpartition(" ")[0] + " ..."
    return (name, STATED_VALUE) if name and name[0].isalnum() else None


def _check_pair(name: str, value: str) -> tuple[str, str] | None:
    short = len(name) <= MAX_NAME_CHARS and len(name.split()) <= MAX_NAME_WORDS
    return (name, value) if name and value and short and name[0].isalnum() else None


def _strip_markup(text: str) -> str:
    return Pattern(r"[*_`]+").sub("", sanitize_line(_LINK.sub(r"\1", text), 1000)).strip()
