"""What a worker was given and what its tools returned, by the names that a claim cites."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from math import log
from pathlib import PurePosixPath
from typing import Any, Final, Literal

from nodes.limits.patterns import Pattern
from nodes.proof.passages import (
    Passage,
    are_labels,
    divide_text,
    label_passage,
    list_words,
    parse_result,
    split_words,
)
from nodes.proof.quotations import normalize_words
from nodes.text.figures import read_figures
from state import Claim, Proof

Origin = Literal["given", "computed", "returned"]
"""A document or table that was read, the result of a computation, the result of another tool."""
CALCULATOR: Final = "calculate"
MAX_CONSTANT: Final = 1_000
"""Of a calculation: such as the days of a year. Larger numbers must be from what was read."""
COMPUTING_TOOLS: Final = frozenset(("analyze_table", "calculate", "query_database"))
READING_TOOLS: Final = frozenset(
    ("search_documents", "read_material", "fetch_page", "web_search", "search_help")
)
"""Tools that show documents as they are."""
MAX_TEXT_CHARS: Final = 8_000_000
MAX_PASSAGES: Final = 200_000
NAMING_ARGUMENTS: Final = ("name", "material", "url", "source", "document", "table")
_LINES_OF: Final = Pattern(r"([^\n]{1,300}), lines \d+-\d+ of \d+")
MIN_ECHO_CHARS: Final = 12
MAX_LABEL_WORDS: Final = 8
MAX_SAMPLE_ROWS: Final = 200
MAX_PLACES: Final = 200
"""Passages with a word: of a long text, one that more have says little."""


@dataclass(eq=False)
class SourceText:
    """One text, by the name under which a claim cites it."""

    name: str
    text: str
    origin: Origin = "given"
    is_structured: bool = False
    """It is JSON that a tool returned."""
    is_result: bool = False
    """It is what a tool returned, not a source in it."""
    is_reading: bool = False
    """It is what a tool showed of documents."""
    lines: tuple[str, ...] = ()
    """Its passages, where they are known."""
    read: frozenset[str] = frozenset()
    """The sources that a result names as what it is of."""

    @cached_property
    def whole(self) -> str:
        """All its words."""
        return self.text or "\n".join(self.lines)

    @cached_property
    def passages(self) -> list[Passage]:
        """Its passages in their order."""
        if self.lines:
            return [Passage(line) for line in self.lines]
        found = list(divide_text(self.name, self.text[:MAX_TEXT_CHARS], self.is_structured))
        return found[:MAX_PASSAGES]

    @cached_property
    def normalized(self) -> str:
        """Its words as quotations are compared; of JSON the texts in it."""
        text = self.whole[:MAX_TEXT_CHARS]
        if self.is_structured:
            text = "\n".join(walk_texts(parse_result(text)))
        return normalize_words(text)

    @cached_property
    def raw_words(self) -> frozenset[str]:
        """Its words as they are written."""
        return frozenset(split_words(self.whole[:MAX_TEXT_CHARS]))

    @cached_property
    def title(self) -> str:
        """The name, and the first line that says something."""
        lines = (line.strip() for line in self.text[:2_000].splitlines())
        return f"{self.name} {next(filter(None, lines), '')[:200]}"

    @cached_property
    def label_columns(self) -> frozenset[str]:
        """The columns that name the rows: of words, codes or periods, not of measured numbers."""
        cells = defaultdict[str, list[str]](list)
        for passage in islice((each for each in self.passages if each.cells), MAX_SAMPLE_ROWS):
            for column, cell in passage.cells:
                cells[column] += [cell] if cell.strip() else []
        return frozenset(name for name, held in cells.items() if are_labels(held))

    @cached_property
    def labels(self) -> dict[tuple[str, ...], list[int]]:
        """The places of a table's rows by the words of each cell that names a row."""
        found = defaultdict[tuple[str, ...], list[int]](list)
        names = self.label_columns
        for at, passage in enumerate(self.passages):
            for column, cell in passage.cells:
                if column in names and (words := split_words(cell.casefold())):
                    found[tuple(words[:MAX_LABEL_WORDS])].append(at)
        return dict(found)

    @cached_property
    def index(self) -> dict[str, list[int]]:
        """The places of the passages by the words that they have."""
        found = defaultdict[str, list[int]](list)
        for at, passage in enumerate(self.passages):
            for word in {*list_words(label_passage(passage))}:
                found[word].append(at)
        return dict(found)

    def rank(self, words: Iterable[str]) -> dict[int, float]:
        """Return the score of each passage that has some of the words, by how rare they are."""
        scores, count = defaultdict[int, float](float), len(self.passages)
        found = [self.index[word] for word in {*words} if word in self.index]
        rare = [places for places in found if len(places) <= max(MAX_PLACES, count // 100)]
        for places in rare or found:
            weight = log(1 + count / len(places))
            for at in places:
                scores[at] += weight
        return dict(scores)


@lru_cache(maxsize=64)
def open_text(name: str, text: str) -> SourceText:
    """Return a document or table that was given, indexed once for all claims on it."""
    return SourceText(name, text)


@dataclass
class Evidence:
    """What a report, or an answer, can rest on."""

    words: str = ""
    """Of the user: a figure that a request has is no claim."""
    texts: list[SourceText] = field(default_factory=list)
    proved: dict[str, Proof] = field(default_factory=dict)
    """Claims of earlier reports, normalized, with their proofs."""
    language: str = "en"

    @property
    def has_sources(self) -> bool:
        """Whether anything was read that a claim can name as its source."""
        return not all(each.is_result for each in self.texts)

    def find(self, source: str) -> list[SourceText]:
        """Return the texts of a source as a claim names it; several where it names several."""
        wanted = source.strip().casefold().rstrip("/")
        if not wanted:
            return []
        for form in (str, lambda name: PurePosixPath(name).name, lambda n: PurePosixPath(n).stem):
            named = [
                each
                for each in self.texts
                if form(each.name.casefold().rstrip("/")) == form(wanted)
            ]
            if named:
                return named
        names = {each.name for each in self.texts if len(each.name) > 3}
        held = [
            name
            for name in names
            if Pattern(
                rf"(?<![^\s,;:()\[\]|]){re.escape(name.casefold())}(?![^\s,;:()\[\]|#])"
            ).search(wanted)
        ]
        return [each for each in self.texts if each.name in held]

    def list_computed(self, sources: Iterable[SourceText]) -> list[SourceText]:
        """Return the results of computing tools that name one of the sources."""
        names = {each.name for each in sources}
        computed = (each for each in self.texts if each.is_result and each.origin == "computed")
        return [each for each in computed if each.read & names]

    def add_material(self, name: str, text: str) -> None:
        """Add what the worker was given."""
        self.texts.append(open_text(name, text))

    def add_claims(self, claims: Iterable[Claim]) -> None:
        """Add what earlier reports said of their sources, as far as it was proved."""
        for claim in claims:
            if claim.proof and claim.proof not in ("unproved", "stated") and claim.source.strip():
                self.proved[normalize_words(claim.text)] = claim.proof
                origin: Origin = "given" if claim.proof == "quoted" else "returned"
                text = f"{claim.text}\n\n{claim.quotation}"
                self.texts.append(SourceText(claim.source, text, origin))

    def _knows_numbers(self, arguments: Any) -> bool:
        """Return whether the numbers of a calculation were read, given, or are small constants."""
        asked = read_figures(" ".join(walk_texts(arguments))).numbers
        written = [each.text for each in asked if each.value > MAX_CONSTANT]
        known = [self.words, *(each.text for each in self.texts)]
        plain = [text.replace(",", "") for text in known] if written else []
        return all(any(number.replace(",", "") in text for text in plain) for number in written)

    def add_result(
        self, tool: str, arguments: Any, content: str, *, is_of_server: bool = False
    ) -> None:
        """Add what a tool returned, without what it only repeats of its own arguments."""
        for said in sorted(walk_texts(arguments), key=len, reverse=True):
            if len(said) >= MIN_ECHO_CHARS and any(map(str.isspace, said)):
                content = content.replace(said, " ")
        if tool == CALCULATOR and not self._knows_numbers(arguments):
            return
        origin: Origin = "computed" if tool in COMPUTING_TOOLS else "returned"
        value, named = parse_result(content), _group_by_source(parse_result(content))
        if value is None:
            body = content.partition("\n\n")[2] if _LINES_OF.match(content) else content
            named = {name: [body] for name in _list_named(arguments, content)}
        is_json = value is not None
        is_reading = tool in READING_TOOLS and not is_of_server
        result = SourceText(tool, content, origin, is_json, True, is_reading)
        result.read = frozenset(named)
        self.texts.append(result)
        for name, parts in named.items():
            shown: Origin = "given" if is_reading else origin
            self.texts.append(SourceText(name, "\n\n".join(parts), shown))


def _group_by_source(value: Any) -> dict[str, list[str]]:
    """Return the texts of a tool's answer by the source that the object beside them names."""
    found = defaultdict[str, list[str]](list)
    for item in _walk_objects(value):
        named = [
            item[key] for key in ("source", "url", "document") if isinstance(item.get(key), str)
        ]
        texts = [v for k, v in item.items() if isinstance(v, str) and k not in ("source", "url")]
        for name in dict.fromkeys(named):
            found[name] += texts
    return {name: parts for name, parts in found.items() if name.strip() and any(parts)}


def _list_named(arguments: Any, content: str) -> list[str]:
    """Return the sources that a result in plain text is of: its call names them, or its heading."""
    said = arguments if isinstance(arguments, dict) else {}
    named = [said[key] for key in NAMING_ARGUMENTS if isinstance(said.get(key), str)]
    heading = _LINES_OF.match(content)
    return list(dict.fromkeys([*named, *([heading[1]] if heading else [])]))


def _walk_objects(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from _walk_objects(each)
    elif isinstance(value, list):
        for each in value:
            yield from _walk_objects(each)


def walk_texts(value: Any) -> Iterator[str]:
    """Yield the texts in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from walk_texts(each)
