"""Which worker reads which files of a request: by the kinds that its tools and examples show."""

from collections.abc import Collection, Iterable
from functools import cached_property

from extensions.embedded.worker_fit import ShownOrder
from nodes.limits.patterns import Pattern
from nodes.schemas.handoff import PlanningValues
from nodes.schemas.team import Example
from nodes.text.csv_table import is_table_name
from nodes.text.json_records import read_records
from nodes.text.request_parts import is_question
from nodes.text.similarity import extract_words

_SEPARATORS = Pattern(r"[\W_]+")
MAX_DATABASE_CHARS = 20_000
MAX_READ_CHARS = 20_000  # of a file, to see what it names
TOOLS = {True: "analyze_table", False: "search_documents"}  # read any table, and any document


class Files:
    """The materials of a request, and the tables of its database."""

    def __init__(self, values: PlanningValues, order: ShownOrder) -> None:
        self._team, self._order = values.team, order
        self.texts = values.materials
        lines = values.database[:MAX_DATABASE_CHARS].splitlines()
        every = {**values.materials, **{line: line for line in lines}}
        records = {name: read_records(name, text) for name, text in values.materials.items()}
        every |= {name: text for name, text in records.items() if text is not None}
        self._kinds = {
            name: is_table_name(name) or name in lines or records[name] is not None
            for name in every
        }
        self._held = {
            kind: {n: text for n, text in every.items() if self._kinds[n] == kind} for kind in TOOLS
        }

    def choose_for(self, worker: str) -> list[str]:
        """Return the files of the kinds that examples, or its tools, show for a worker.

        Of a worker without any shown, and of a kind that no example has, all are for it.
        """
        kinds = _list_suffixes(
            task.materials for task in self._order.tasks if task.worker == worker
        )
        known = _list_suffixes(task.materials for task in self._order.tasks)
        tools = self._team.find_worker(worker).tools
        if not kinds and self._order.waits(worker):
            return list(self.texts) if "check_sources" in tools else []
        general = self._list_kinds(worker)
        chosen = [
            name
            for name in self.texts
            if self._kinds[name] in general
            or _get_suffix(name) in kinds
            or (not general and not (kinds and _get_suffix(name) in known))
        ]
        return chosen or ([] if self._order.waits(worker) else list(self.texts))

    def are_only_for(self, worker: str) -> bool:
        """Return whether all materials are tables, and a worker has the tool that reads them."""
        can_read = "analyze_table" in self._team.find_worker(worker).tools
        return can_read and bool(self.texts) and all(self._kinds[name] for name in self.texts)

    def has_all_of(self, example: Example) -> bool:
        """Return whether all files of an example are here, and it has some."""
        read = {get_name(name) for task in example.plan.tasks for name in task.materials}
        return bool(read) and read <= {get_name(name) for name in self.texts}

    def find_readers(self) -> list[str]:
        """Return who reads the documents of a request, then who reads its tables."""
        kinds = [kind for kind in (False, True) if self._held[kind]]
        return [name for kind in kinds for name in self._list_readers(kind)]

    def lacks_kind(self, worker: str) -> bool:
        """Return whether a worker reads any table, or any document, and there is none."""
        kinds = self._list_kinds(worker)
        return bool(kinds) and not any(self._held[kind] for kind in kinds)

    def pair_readers(self, chosen: Collection[str]) -> tuple[str, str] | None:
        """Return who reads the tables, of those chosen, and who reads the documents beside them.

        None where either is missing, or one worker reads both by its tools.
        """
        if not all(self._held[kind] and self._held[kind].keys() & self.texts for kind in TOOLS):
            return None
        able = {
            kind: [each.name for each in self._team.roster if tool in each.tools]
            for kind, tool in TOOLS.items()
        }
        tables = [name for name in able[True] if name in chosen and name not in able[False]]
        documents = sorted(able[False], key=lambda name: name not in chosen)
        return (tables[0], documents[0]) if tables and documents else None

    def is_rather_in_documents(self, parts: Iterable[str]) -> bool:
        """Return whether documents hold more of some words, and tables no cell of their own."""
        wanted = _list_words(parts)
        held = _list_words(f"{n} {text}" for n, text in self._held[False].items())
        in_tables = wanted & self._words[True]
        return len(wanted & held) > len(in_tables) and in_tables <= held | self._headers

    def find_missing_readers(self, part: str, takers: Collection[str]) -> list[str]:
        """Return who else reads files for a part of a request.

        Of a question, who reads the tables and who reads the documents: which of them answer it is
        seen when they are read. Of an order, who reads the kind that alone holds words of it.
        """
        wanted = {word for word in _list_words([part]) if not word.isdigit()}
        readers = [each for each in takers if self._reads_files(each) or not is_question(part)]
        read = {name for each in readers for name in self.choose_for(each)}
        able = {
            kind: self._list_readers(kind)
            for kind in TOOLS
            if (is_question(part) and self._held[kind]) or wanted & self._words[kind]
        }
        return [
            found[0]
            for kind, found in able.items()
            if found and read.isdisjoint(self._held[kind]) and not {*found} & {*takers}
        ]

    def _reads_files(self, worker: str) -> bool:
        """Return whether a tool or an example shows that a worker reads files at all."""
        shown = (task.materials for task in self._order.tasks if task.worker == worker)
        return bool(self._list_kinds(worker)) or any(shown)

    def _list_kinds(self, worker: str) -> list[bool]:
        tools = self._team.find_worker(worker).tools
        return [kind for kind, tool in TOOLS.items() if tool in tools]

    def _list_readers(self, kind: bool) -> list[str]:
        """Return the workers that read a kind of files by a tool, else begin so in examples."""
        by_tool = [each.name for each in self._team.roster if TOOLS[kind] in each.tools]
        shown = [
            task.worker
            for task in self._order.tasks
            if not task.depends_on and any(is_table_name(n) == kind for n in task.materials)
        ]
        return sorted(dict.fromkeys(by_tool + shown), key=lambda name: -shown.count(name))

    @cached_property
    def _headers(self) -> set[str]:
        """The words of the tables' names and columns."""
        first = (f"{n} {text.partition(chr(10))[0]}" for n, text in self._held[True].items())
        return _list_words(first)

    @cached_property
    def _in_tables(self) -> set[str]:
        return _list_words(f"{n} {text}" for n, text in self._held[True].items())

    @cached_property
    def _words(self) -> dict[bool, set[str]]:
        """The words of the tables' names and columns, and those that only one kind of files has."""
        tables = self._in_tables
        documents = _list_words(f"{n} {text}" for n, text in self._held[False].items())
        return {True: self._headers | (tables - documents), False: documents - tables}


def get_name(name: str) -> str:
    """Return the name of a file without its folder."""
    return name.rsplit("/", 1)[-1]


def _list_words(texts: Iterable[str]) -> set[str]:
    cut = " ".join(text[:MAX_READ_CHARS] for text in texts)
    return {*extract_words(_SEPARATORS.sub(" ", cut))}


def _list_suffixes(names: Iterable[Iterable[str]]) -> set[str]:
    return {_get_suffix(name) for each in names for name in each}


def _get_suffix(name: str) -> str:
    return name.split("#")[0].rsplit(".", 1)[-1].lower()
