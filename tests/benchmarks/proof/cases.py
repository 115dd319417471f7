"""Generates reports and answers over real documents, true ones and ones with one planted fault."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from state import Claim, Report
from tests.benchmarks.proof.answers import (
    ANSWER_FAULTS,
    LAYOUTS,
    Line,
    plant_line,
    write_answer,
)
from tests.benchmarks.proof.claim_faults import PROSE_FAULTS
from tests.benchmarks.proof.documents import Document, Split, Table
from tests.benchmarks.proof.quotations import print_as_pdf, set_marks, vary_quotation
from tests.benchmarks.proof.row_faults import ROW_FAULTS, add_cells, state_same_column
from tests.benchmarks.proof.statements import Statement
from tests.benchmarks.proof.world import Text, World

TRUE = "true"
KINDS = tuple(dict.fromkeys((*PROSE_FAULTS, *ROW_FAULTS, *ANSWER_FAULTS)))
PER_KIND = 34
"""Faults of each kind in each half."""
TRUE_CASES = 360
"""True reports in each half."""
ROW_SHARES = {"wrong arithmetic": 0.75}
"""Of the faults of a kind, how many are in claims of tables, where few sentences allow them."""
MAX_DRAWS = 3_000
MAX_READ_CHARS = 19_000
REQUEST = "What do the documents say? Name each figure, date and name with its source."


@dataclass(frozen=True)
class Case:
    """A report, what its worker was given and read, and the answer made of it."""

    id: str
    kind: str
    """`true`, or the kind of the planted fault."""
    document: str
    split: Split
    materials: dict[str, str]
    tool_results: list[tuple[str, str]]
    """Each as the tool's name and what it returned."""
    request: str
    report: Report
    answer: str
    fault: str = ""
    """What was planted and where; empty in a true one."""
    fault_claim: int | None = None
    """Index of the claim with the fault."""
    fault_line: str = ""
    """The line of the answer with the fault."""
    unjudged_lines: tuple[str, ...] = ()
    """Lines that may be marked or not: headings, and those that say the claim with the fault."""
    forms: tuple[str, ...] = ()
    """How each claim was made, for reading."""


def make_claim(text: str, source: str, quotation: str) -> Claim:
    """Return a claim; `quote` is also read where the field has another name."""
    return Claim.model_validate({"text": text, "source": source, "quote": quotation})


def generate_cases(
    documents: Sequence[Document],
    *,
    per_kind: int = PER_KIND,
    true_cases: int = TRUE_CASES,
    splits: Sequence[Split] = ("a", "b"),
) -> Iterator[Case]:
    """Return cases, the same for the same documents; no document is in cases of both halves."""
    for split in splits:
        world = World([each for each in documents if each.split == split])
        for kind in (TRUE, *KINDS):
            for number in range(true_cases if kind == TRUE else per_kind):
                name = f"{split}-{kind.replace(' ', '-')}-{number}"
                yield draw_case(name, kind, split, world)


def draw_case(name: str, kind: str, split: Split, world: World) -> Case:
    """Return one case of a kind.

    Raises:
        ValueError: no document of the half allows a fault of the kind.
    """
    random = Random(name)
    for _ in range(MAX_DRAWS):
        if kind in ANSWER_FAULTS:
            case = _draw_answer_fault(name, kind, split, world, random)
        else:
            case = _draw_claim_case(name, kind, split, world, random)
        if case is not None:
            return case
    raise ValueError(f"no document of half {split} allows: {kind}")


def _draw_claim_case(
    name: str, kind: str, split: Split, world: World, random: Random
) -> Case | None:
    planted = None if kind == TRUE else _draw_fault(kind, world, random)
    if kind != TRUE and planted is None:
        return None
    statements = _draw_true(world, random)
    pair = state_same_column(random.choice(world.tables), random) if kind == TRUE else None
    total = add_cells(*pair) if pair and random.random() < 0.25 else ""
    if pair and total:
        statements[:2] = pair
    at = None
    if planted is not None:
        at = random.randrange(len(statements))
        statements[at] = planted
    layout = random.choice(LAYOUTS)
    lines = write_answer(statements, layout, random)
    lines += [Line(""), Line(total)] if total else []
    return _build(name, kind, split, world, statements, lines, at, None, random)


def _draw_fault(kind: str, world: World, random: Random) -> Statement | None:
    share = ROW_SHARES.get(kind, 0.4)
    on_rows = kind in ROW_FAULTS and (kind not in PROSE_FAULTS or random.random() < share)
    if on_rows:
        return ROW_FAULTS[kind](random.choice(world.tables), random)
    return PROSE_FAULTS[kind](world, random.choice(world.figured), random)


def _draw_answer_fault(
    name: str, kind: str, split: Split, world: World, random: Random
) -> Case | None:
    plant, layouts = ANSWER_FAULTS[kind]
    statements = _draw_true(world, random)
    if kind == "another subject in the answer":
        pair = state_same_column(random.choice(world.tables), random)
        if pair is None:
            return None
        statements[:2] = pair
    lines = write_answer(statements, random.choice(layouts), random)
    planted = plant(statements, lines, random)
    if planted is None:
        return None
    lines = plant_line(lines, *planted)
    return _build(name, kind, split, world, statements, lines, None, planted[0], random)


def _draw_true(world: World, random: Random) -> list[Statement]:
    """Return three to eight true statements of one to three documents."""
    texts = random.sample(world.figured, 2)
    tables = random.sample(world.tables, 1)
    choices: list[list[Text | Table]]
    choices = [[texts[0]], [*texts], [*tables], [texts[0], *tables]]
    sources = random.choice(choices)
    statements = dict[str, Statement]()
    count = random.randint(3, 8)
    while len(statements) < count:
        source = random.choice(sources)
        if isinstance(source, Text):
            made = _quote_prose(world.draw_prose(source, random), random)
        else:
            made = _quote_row(world.draw_row(tables[0], random), random)
        statements.setdefault(made.evidence + made.column + made.form[:4], made)
    return list(statements.values())


def _quote_prose(made: Statement, random: Random) -> Statement:
    if made.form in ("verbatim", "reordered", "dated") and random.random() < 0.25:
        return made
    if made.form == "address":
        return replace(made, quotation=made.evidence)
    quotation, way = vary_quotation(made.evidence, random)
    return replace(made, quotation=quotation, form=f"{made.form}, {way}")


def _quote_row(made: Statement, random: Random) -> Statement:
    if made.form == "cell" and random.random() < 0.4:
        return replace(made, quotation=made.evidence)
    return made


def _build(
    name: str,
    kind: str,
    split: Split,
    world: World,
    statements: Sequence[Statement],
    lines: Sequence[Line],
    fault_claim: int | None,
    fault_at: int | None,
    random: Random,
) -> Case:
    claims = [make_claim(each.text, each.source, each.quotation) for each in statements]
    names = [each.source for each in statements if each.source in world.by_name]
    if kind in ("swapped source", "unread source") and fault_claim is not None:
        names += _find_origin(world, statements[fault_claim].evidence)
    if random.random() < 0.3:
        names.append(random.choice(world.texts).document.name)
    materials, results = _give(list(dict.fromkeys(names)), world, random)
    planted_line = lines[fault_at].text if fault_at is not None else ""
    where = f"claim {fault_claim}" if planted_line == "" else f"line {fault_at}"
    what = planted_line or (statements[fault_claim].text if fault_claim is not None else "")
    unjudged = [
        line.text for line in lines if fault_claim is not None and line.claim == fault_claim
    ]
    return Case(
        id=name,
        kind=kind,
        document=names[0] if names else "",
        split=split,
        materials=materials,
        tool_results=results,
        request=REQUEST,
        report=Report(
            task="read",
            worker="researcher",
            output=" ".join(each.text for each in statements),
            claims=tuple(claims),
            confidence=90,
        ),
        answer="\n".join(line.text for line in lines),
        fault="" if kind == TRUE else f"{where}: {what}",
        fault_claim=fault_claim,
        fault_line=planted_line,
        unjudged_lines=tuple(unjudged),
        forms=tuple(each.form for each in statements),
    )


def _find_origin(world: World, sentence: str) -> list[str]:
    found = (each.document.name for each in world.texts if sentence in each.sentences)
    return list(found)[:1]


def _give(
    names: Sequence[str], world: World, random: Random
) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return documents as materials, and some as results of the tool that reads them."""
    materials, results = dict[str, str](), list[tuple[str, str]]()
    for name in names:
        document = world.by_name[name]
        text = document.text
        if not document.is_table and random.random() < 0.2:
            text = print_as_pdf(text, random)
        elif not document.is_table and random.random() < 0.1:
            text = set_marks(text)
        if len(text) < MAX_READ_CHARS and random.random() < 0.25:
            count = len(text.splitlines())
            head = f"{name}, lines 1-{count} of {count}; this is its end"
            results.append(("read_material", f"{head}\n\n{text}"))
        else:
            materials[name] = text
    return materials, results
