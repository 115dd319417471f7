"""What a worker was given and its tools returned, divided into passages for claims."""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from io import StringIO
from itertools import islice
from math import log
from pathlib import PurePosixPath
from string import punctuation
from typing import Any, Final, Literal

from nodes.limits.nesting import parse_json
from nodes.limits.patterns import Pattern
from nodes.proof.quotations import normalize_words
from nodes.text.csv_table import CsvUnreadable, is_table_name, open_csv
from state import Claim

Origin = Literal["given", "computed", "returned"]
"""A document or table that was read, the result of a computation, the result of another tool."""
COMPUTING_TOOLS: Final = frozenset(("analyze_table", "calculate", "query_database"))
READING_TOOLS: Final = frozenset(
    ("search_documents", "read_material", "fetch_page", "web_search", "search_help")
)
"""Tools that show documents as they are."""
_SENTENCE_END: Final = Pattern(
    r"(?<=[.!?;])(?<!\b[A-Z][a-z]{0,2}\.)(?<!\b[a-z]\.[a-z]\.)[\"')\]\u201d]*\s+"
    r"(?=[\"'(\[\u201c]?[A-Z\u00c0-\u00de])|(?<=[\u3002\uff01\uff1f])"
)
"""Also after the full stops of Chinese and Japanese."""
_STARTS_BLOCK: Final = Pattern(r"\s*(?:[-*+•] |\d{1,3}[.)] |#{1,6} |\||>)")
_HEADING: Final = Pattern(r"\s*(?:#{1,6}\s+(.+)|\*\*([^*]+)\*\*:?|(\S.{0,80}):)\s*$")
_UNDERLINE: Final = Pattern(r"\s*(?:=|-|~|\^){3,}\s*$")
_BETWEEN: Final = str.maketrans(
    dict.fromkeys(
        "\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb\u2013\u2014\u2022\u2026\u00a0\u202f\u3002\u3001\uff0c\uff01\uff1f\uff08\uff09\u300c\u300d\uff1a\uff1b"
        + punctuation,
        " ",
    )
)
"""Signs between words: to divide at them is ten times as fast as to search for words."""
_CJK: Final = Pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
STEM_CHARS: Final = 5
"""Words that begin alike are taken for forms of one word, in any language."""
MAX_TEXT_CHARS: Final = 8_000_000
MAX_PASSAGES: Final = 200_000
NAMING_ARGUMENTS: Final = ("name", "material", "url", "source", "document", "table")
_LINES_OF: Final = Pattern(r"([^\n]{1,300}), lines \d+-\d+ of \d+")
MIN_ECHO_CHARS: Final = 12
MAX_CELL_CHARS: Final = 60
MAX_LABEL_WORDS: Final = 8
MAX_SAMPLE_ROWS: Final = 200
MAX_PLACES: Final = 200
"""Passages with a word: of a long text, one that more have says little."""


def split_words(text: str) -> list[str]:
    """Return the words and numbers of a text as they are written, without signs."""
    return text.translate(_BETWEEN).split()


def list_words(text: str) -> list[str]:
    """Return the stems of a text's words; of writing without spaces each pair of signs."""
    words = list[str]()
    for word in split_words(text.casefold()):
        if word.isalpha() and (word.isascii() or not _CJK.search(word)):
            words.append(word[:STEM_CHARS])
        elif word.isalpha():
            words += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        else:
            words.append(word)
    return words


@dataclass(frozen=True)
class Passage:
    """A sentence, or a row of a table with its cells."""

    text: str
    heading: str = ""
    cells: tuple[tuple[str, str], ...] = ()
    """Column and cell."""


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

    @cached_property
    def whole(self) -> str:
        """All its words."""
        return self.text or "\n".join(self.lines)

    @cached_property
    def passages(self) -> list[Passage]:
        """Its passages in their order."""
        if self.lines:
            return [Passage(line) for line in self.lines]
        found = list(_divide(self.name, self.text[:MAX_TEXT_CHARS], self.is_structured))
        return found[:MAX_PASSAGES]

    @cached_property
    def normalized(self) -> str:
        return normalize_words(self.whole[:MAX_TEXT_CHARS])

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
        return frozenset(name for name, held in cells.items() if _are_labels(held))

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
            for word in {*list_words(_label(passage))}:
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
        for form in (str, _get_file_name, _get_stem):
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

    def add_material(self, name: str, text: str) -> None:
        """Add what the worker was given."""
        self.texts.append(open_text(name, text))

    def add_claims(self, claims: Iterable[Claim]) -> None:
        """Add what earlier reports said of their sources, as far as it was proved."""
        for claim in claims:
            if claim.proof not in (None, "unproved", "stated") and claim.source.strip():
                origin: Origin = "given" if claim.proof == "quoted" else "returned"
                text = f"{claim.text}\n\n{claim.quotation}"
                self.texts.append(SourceText(claim.source, text, origin))

    def add_result(
        self, tool: str, arguments: Any, content: str, *, is_of_server: bool = False
    ) -> None:
        """Add what a tool returned, without what it only repeats of its own arguments."""
        for said in sorted(_walk_texts(arguments), key=len, reverse=True):
            if len(said) >= MIN_ECHO_CHARS and any(map(str.isspace, said)):
                content = content.replace(said, " ")
        origin: Origin = "computed" if tool in COMPUTING_TOOLS else "returned"
        value, named = _parse(content), _group_by_source(_parse(content))
        if value is None:
            body = content.partition("\n\n")[2] if _LINES_OF.match(content) else content
            named = {name: [body] for name in _list_named(arguments, content)}
        is_json = value is not None
        is_reading = tool in READING_TOOLS and not is_of_server
        self.texts.append(SourceText(tool, content, origin, is_json, True, is_reading))
        for name, parts in named.items():
            shown: Origin = "given" if is_reading else origin
            self.texts.append(SourceText(name, "\n\n".join(parts), shown))


def _divide(name: str, text: str, is_structured: bool) -> Iterator[Passage]:
    if is_structured:
        yield from _divide_value(_parse(text))
    elif is_table_name(name):
        try:
            yield from _divide_rows(text)
        except (CsvUnreadable, csv.Error):
            yield from _divide_prose(text)
    else:
        yield from _divide_prose(text)


def _divide_rows(text: str) -> Iterator[Passage]:
    opened = open_csv(StringIO(text, newline=""))
    for record in opened.read_rows():
        yield build_row(opened.columns, record.cells)


def build_row(columns: Sequence[str], cells: Sequence[Any]) -> Passage:
    """Return a row of a table as a passage."""
    pairs = tuple((str(c), str(v)) for c, v in zip(columns, cells, strict=False) if v is not None)
    return Passage("; ".join(f"{column}: {cell}" for column, cell in pairs), "", pairs)


def _divide_value(value: Any) -> Iterator[Passage]:
    """Yield the passages of JSON: a table's rows, objects of scalars as rows, texts as prose."""
    match value:
        case {"columns": [*columns], "rows": [*rows], **others} if all(map(_is_list, rows)):
            yield from (build_row(list(map(str, columns)), row) for row in rows)
            yield from _divide_value(others)
        case dict():
            scalars = {key: each for key, each in value.items() if _is_short(each)}
            yield from [build_row(list(scalars), list(scalars.values()))] if scalars else []
            for key in value.keys() - scalars.keys():
                yield from _divide_value(value[key])
        case list() if value and all(map(_is_short, value)):
            yield Passage(", ".join(map(str, value)))
        case list():
            for each in value:
                yield from _divide_value(each)
        case str():
            yield from _divide_prose(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_short(value: Any) -> bool:
    is_text = isinstance(value, str) and len(value) <= MAX_CELL_CHARS and "\n" not in value
    return is_text or isinstance(value, int | float)


def _divide_prose(text: str) -> Iterator[Passage]:
    """Yield the sentences of a text; a list item, a heading or a table row begins a new one."""
    heading, block, columns = "", list[str](), list[str]()
    for line in [*text.splitlines(), ""]:
        if block and (not line.strip() or _STARTS_BLOCK.match(line)):
            yield from _divide_block(block, heading)
            block = []
        if line.lstrip().startswith("|") and line.count("|") > 2:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if columns and not set(line) <= {*"|-: "}:
                yield build_row(columns, cells)
            columns = columns or cells
            continue
        columns = []
        if title := _read_heading(line, block):
            if block != [title]:
                yield from _divide_block(block, heading)
            yield Passage(title, heading)
            heading, block = title, []
        elif line.strip():
            block.append(line.strip())
    yield from _divide_block(block, heading)


def _read_heading(line: str, block: Sequence[str]) -> str:
    """Return the heading that a line is, or that it underlines; empty if it is none."""
    if len(block) == 1 and _UNDERLINE.match(line):
        return block[0]
    found = None if block and line.rstrip().endswith(":") else _HEADING.match(line)
    return next(filter(None, found.groups())).strip() if found else ""


def _divide_block(block: list[str], heading: str) -> Iterator[Passage]:
    joined = " ".join(line.strip() for line in block)
    for sentence in _SENTENCE_END.split(joined):
        if sentence and sentence.strip():
            yield Passage(sentence.strip(), heading)


def _label(passage: Passage) -> str:
    """Return the words by which a passage is found: of a row its labels, columns and periods."""
    if not passage.cells:
        return f"{passage.text} {passage.heading}"
    return " ".join(cell for _, cell in passage.cells)


def _are_labels(cells: Sequence[str]) -> bool:
    """Return whether most cells of a column are words, or all are years or days."""
    numbers = [
        cell
        for cell in cells
        if cell.strip("-+$€£% ").replace(",", "").replace(".", "", 1).isdigit()
    ]
    if len(numbers) < len(cells) / 2:
        return True
    return all(cell.strip().isdigit() and "1800" <= cell.strip() <= "2100" for cell in numbers)


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


def _walk_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _walk_texts(each)


def _parse(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return parse_json(text)
    except ValueError:
        return None


def _get_file_name(name: str) -> str:
    return PurePosixPath(name).name


def _get_stem(name: str) -> str:
    return PurePosixPath(name).stem
