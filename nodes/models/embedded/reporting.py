"""Report what the tools returned: passages, rows and figures, each with its source.

Confidence is a rule, not a judgement: 70 with three or more sourced statements, 55 with fewer, 40
when they were found in the handoff alone; 10 less when a tool failed; 20 when handed back.
"""

from collections import Counter
from typing import Any

from nodes.models.embedded.reading import Brief, Call, Passage
from nodes.models.embedded.words import has_figure, rarity, sentences, shared, words

MAX_STATEMENTS = 8
MAX_PER_SOURCE = 3
MAX_STATEMENT_CHARS = 400
MAX_ROWS = 20
NOT_DONE = "Not done: "


def report(brief: Brief) -> dict[str, Any]:
    """Write a worker's report; hand the task back when nothing was found."""
    answered = [call for call in brief.calls if not call.failed]
    refused = [f"{NOT_DONE}{c.tool}: {c.text[:200]}" for c in brief.calls if c.failed]
    shown = [part for call in answered if (part := _shown(call))]
    found = [passage for call in answered if not _shown(call) for passage in call.passages]
    handed = [] if found or shown else _handed(brief)
    claims = [claim for call in answered for claim in _row_claims(call)]
    claims += _statements(brief.intent, found or handed)
    if not shown and not claims:
        return _handed_back(brief, refused)
    if not shown:
        shown = ["\n".join(f"- {claim['text']} ({claim['source']})" for claim in claims)]
    confidence = 40 if handed else 70 if len(claims) > 2 else 55
    return {
        "status": "completed",
        "output": "\n\n".join([*shown, *refused]),
        "claims": claims,
        "findings": [finding for call in answered for finding in _doubts(call)],
        "confidence": confidence - 10 * bool(refused),
    }


def _shown(call: Call) -> str:
    """Show what is not prose: a table, verdicts, a finished document, a value."""
    data = call.data
    if data.get("columns") and data.get("rows"):
        return _table([str(name) for name in data["columns"]], data["rows"])
    if "checked" in data:
        verdicts = Counter(str(item.get("verdict")) for item in _items(data))
        counted = ", ".join(f"{count} {name}" for name, count in sorted(verdicts.items()))
        doubts = [f"- {item.get('claim')}: {item.get('text')}" for item in _doubtful(data)]
        return "\n".join([f"{data['checked']} claims checked: {counted}.", *doubts])
    if data.get("path"):
        return f"The document is at {data['path']}."
    if "value" in data:
        return f"{data.get('expression', call.arguments)} = {data['value']}"
    return ""


def _table(columns: list[str], rows: list[list[Any]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows[:MAX_ROWS]]
    shown = ["| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines]
    if len(rows) > MAX_ROWS:
        shown.append(f"\n{len(rows) - MAX_ROWS} more rows.")
    return "\n".join(shown)


def _cell(value: Any) -> str:
    return " ".join(str("" if value is None else value).split()).replace("|", "\\|")


def _row_claims(call: Call) -> list[dict[str, Any]]:
    data = call.data
    columns, rows = data.get("columns"), data.get("rows")
    if not columns or not rows:
        return []
    source = next((passage.source for passage in call.passages if passage.source), call.tool)
    texts = [
        "; ".join(f"{n}: {_cell(v)}" for n, v in zip(columns, row, strict=False)) for row in rows
    ]
    return [
        {"text": text, "source": source, "quote": "", "confidence": 70}
        for text in texts[:MAX_ROWS]
        if text
    ]


def _statements(intent: str, passages: list[Passage]) -> list[dict[str, Any]]:
    """Choose the sentences that share most with the intent, those with figures first."""
    wanted = words(intent)
    weights = rarity(passage.text for passage in passages)
    ranked: dict[str, tuple[float, int, str]] = {}
    for passage in passages:
        around = 0.3 * shared(wanted, passage.text, weights)
        for sentence in sentences(passage.text):
            common = shared(wanted, sentence, weights)
            if common and len(sentence) > 20 and not _is_table_row(sentence):
                score = common + around + 0.1 * has_figure(sentence)
                ranked.setdefault(sentence, (score, len(ranked), passage.source))
    kept: list[tuple[str, tuple[float, int, str]]] = []
    per_source: Counter[str] = Counter()
    for sentence, rank in sorted(ranked.items(), key=lambda item: (-item[1][0], item[1][1])):
        per_source[rank[2]] += 1
        if per_source[rank[2]] <= MAX_PER_SOURCE and len(kept) < MAX_STATEMENTS:
            kept.append((sentence[:MAX_STATEMENT_CHARS], rank))
    kept.sort(key=lambda item: item[1][1])
    return [
        {"text": text, "source": rank[2], "quote": text, "confidence": 70} for text, rank in kept
    ]


def _is_table_row(sentence: str) -> bool:
    return sentence.count(",") > sentence.count(", ") + 2 or sentence.count("|") > 2


def _handed(brief: Brief) -> list[Passage]:
    """Fall back on what came with the task: materials, else what earlier tasks found."""
    claims = [Passage(str(c.get("source", "")), str(c["text"])) for c in brief.claims]
    return [Passage(name, text) for name, text in brief.artifacts.items()] or claims


def _handed_back(brief: Brief, refused: list[str]) -> dict[str, Any]:
    tried = ", ".join(dict.fromkeys(call.tool for call in brief.calls))
    message = (
        f"Nothing was found for: {brief.intent[:300]} Tried: {tried}. A document, a table or a "
        "reachable page that speaks of it is needed."
        if tried
        else f"No tool can be called with what the handoff gives for: {brief.intent[:300]}"
    )
    return {
        "status": "escalated",
        "output": "\n".join(refused),
        "confidence": 20,
        "escalation": {
            "reason": "ambiguous_input" if tried else "out_of_scope",
            "message": message,
        },
    }


def _items(data: dict[str, Any]) -> list[dict[str, Any]]:
    results = data.get("results")
    return [item for item in results if isinstance(item, dict)] if isinstance(results, list) else []


def _doubtful(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for item in _items(data) if item.get("verdict") in ("partly", "unsupported")]


def _doubts(call: Call) -> list[dict[str, Any]]:
    doubtful = _doubtful(call.data) if "checked" in call.data else []
    return [
        {
            "severity": "medium" if item["verdict"] == "unsupported" else "low",
            "message": f"{item['verdict']}: {item.get('claim')} {item.get('text', '')}".strip(),
            "file": str(item.get("source", "")),
        }
        for item in doubtful
    ]
