"""Read products' features from their pages, and compare them side by side."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final, Literal

from markdown_it.token import Token

from extensions.tools.reading.prose_sentences import build_block_parser
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.argument_types import CitedClaim

MAX_NAME_CHARS: Final = 60
MAX_NAME_WORDS: Final = 6
MAX_VALUE_CHARS: Final = 160
MAX_ITEM_CHARS: Final = 100
"""Limit of an item of a list that is a feature without a value."""
CLAIM_SEPARATOR: Final = " \N{EM DASH} "
"""Separates a product and what is stated of it, in a claim."""
STATED_VALUE: Final = "stated"
"""Value of a feature that a list names without one."""

_Section = Literal["sheet", "features", "other"]

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
    quotation: str

    @property
    def claim(self) -> str:
        """Return it as a claim, which `parse_claim` can parse again."""
        return f"{self.product}{CLAIM_SEPARATOR}{self.name}: {self.value}"


@dataclass(frozen=True)
class Block:
    """A heading, an item of a list, a row of a table or a paragraph."""

    kind: Literal["heading", "item", "row", "text"]
    text: str
    first: int
    """Index of its first line."""
    level: int = 0
    """Level of a heading."""


def extract_features(text: str, file: str) -> list[Feature]:
    """Return the features that a page states; of a name that occurs twice the first counts."""
    lines, found = text.splitlines(), dict[str, Feature]()
    blocks = list(list_blocks(lines))
    product = find_product_name(blocks, file)
    for name, value, first, count in _list_stated(blocks, product):
        key = normalize_name(name)
        if key and key not in found and key.split(" ")[0] not in _NOT_FEATURES:
            quote = "\n".join(lines[first : first + count]).strip()
            found[key] = Feature(product, name, value[:MAX_VALUE_CHARS], first + 1, quote)
    return list(found.values())


def list_blocks(lines: list[str]) -> Iterator[Block]:
    """Yield the blocks of a page; not code, quotations and numbered items."""
    tokens = [Token("root", "", 0), *build_block_parser().parse("\n".join(lines))]
    for outer, opened, inner in zip(tokens, tokens[1:], tokens[2:], strict=False):
        first = opened.map[0] if opened.map else 0
        if opened.type == "heading_open":
            title = _strip_markup(inner.content.split("\n")[-1])
            yield Block("heading", title, first, int(opened.tag[1:]))
        elif opened.type == "tr_open" and inner.type == "td_open":
            yield Block("row", lines[first].strip().strip("|"), first)
        elif opened.type == "paragraph_open" and outer.type == "list_item_open":
            if outer.markup in "-*+":
                yield Block("item", inner.content, first)
        elif opened.type == "paragraph_open" and not opened.level:
            for number, line in enumerate(inner.content.split("\n"), start=first):
                yield Block("text", line, number)


def find_product_name(blocks: Sequence[Block], file: str) -> str:
    """Return the title of a page if it is a name, else the name of its file or folder.

    The title is the heading of the first level, or of any level where the page begins with it.
    """
    titles = [block.text for block in blocks if block.level == 1][:1]
    titles += [block.text for block in blocks[:1] if block.level]
    for title in titles:
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


def _list_stated(blocks: Sequence[Block], product: str) -> Iterator[tuple[str, str, int, int]]:
    """Yield the name and value of each feature, its first line and the number of its lines."""
    section: _Section = "sheet"
    depth = 0
    for block in blocks:
        if block.kind != "heading":
            if section != "other" and (pair := _read_block(block, section)):
                yield *pair, block.first, block.text.count("\n") + 1
        elif _FEATURE_HEADING.search(block.text) and not _OTHER_HEADING.search(block.text):
            section, depth = "features", block.level
        elif section != "features" or block.level <= depth:
            section = "sheet" if block.text.startswith(product) and not depth else "other"
            depth = depth or block.level


def _read_block(block: Block, section: _Section) -> tuple[str, str] | None:
    """Return the name and value that a block states."""
    if block.kind == "row":
        cells = [_strip_markup(cell) for cell in block.text.split("|")]
        return _check_pair(cells[0], cells[1]) if len(cells) == 2 else None
    pair = _split_pair(block.text)
    if block.kind == "item":
        return pair or (_name_item(block.text) if section == "features" else None)
    return pair if pair and not pair[1].endswith((".", "!", "?", ",")) else None


def _name_item(item: str) -> tuple[str, str] | None:
    """Return an item of a list of features as a name, without a value."""
    name = _SENTENCE_END.split(_strip_markup(item))[0].replace(":", "").rstrip(".,; ")
    if len(name) > MAX_ITEM_CHARS:
        name = name[:MAX_ITEM_CHARS].rpartition(" ")[0] + " ..."
    return (name, STATED_VALUE) if name[:1].isalnum() else None


def _split_pair(text: str) -> tuple[str, str] | None:
    matched = _PAIR.fullmatch(_LINK.sub(r"\1", text))
    return _check_pair(*map(_strip_markup, matched.groups())) if matched else None


def _check_pair(name: str, value: str) -> tuple[str, str] | None:
    short = len(name) <= MAX_NAME_CHARS and len(name.split()) <= MAX_NAME_WORDS
    return (name, value) if name and value and short and name[0].isalnum() else None


def _strip_markup(text: str) -> str:
    return Pattern(r"[*_`]+").sub("", sanitize_line(_LINK.sub(r"\1", text), 1000)).strip()


UNSTATED_VALUE: Final = "not stated"


@dataclass
class FeatureMatrix:
    """Features by product; an empty cell means that no source states it."""

    products: list[str] = field(default_factory=list)
    rows: list[tuple[str, ...]] = field(default_factory=list)
    """The feature's name, then a value for each product; shared features first."""
    sources: list[tuple[str, str]] = field(default_factory=list)
    """Each product and the source of its features."""
    conflicts: list[str] = field(default_factory=list)
    """Features that one product states twice with different values."""


def build_matrix(claims: Sequence[CitedClaim]) -> FeatureMatrix:
    """Build the matrix from claims about products; other claims are skipped."""
    made, names, values = FeatureMatrix(), dict[str, str](), dict[str, dict[str, str]]()
    for claim in claims:
        if (found := parse_claim(claim.text)) is None:
            continue
        product, feature, value = found
        key = normalize_name(feature)
        names.setdefault(key, feature)
        known = values.setdefault(key, {}).setdefault(product, value)
        if known != value:
            made.conflicts.append(f"{product} states {feature} as {known!r} and as {value!r}")
        made.sources.append((product, claim.source))
    made.sources = list(dict.fromkeys(made.sources))
    made.products = list(dict.fromkeys(product for product, _ in made.sources))
    for key, by_product in sorted(values.items(), key=lambda pair: -len(pair[1])):
        cells = (by_product.get(product, UNSTATED_VALUE) for product in made.products)
        made.rows.append((names[key], *cells))
    return made
