"""Ask tables of many fields what people ask, without a model: `python -m …keyless.asked [SET]`.

1,125 made-up questions on 39 small tables, ten of them German, by writers who had not seen
the code; each has its right answer, computed by another program. Each set was unseen when it was
first measured, and what was wrong was corrected since: they show what falls back, not what a new
table would get.
"""

import json
import re
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from extensions.tools.sql.table_analysis import analyze_table
from nodes.text.phrases import detect_language

SETS = Path(__file__).with_name("asked_sets")
TIMEOUT_S = 10.0
TOLERANCE = 0.006
"""Of a figure that is shown rounded."""
REFUSED = "refuse"
"""In place of the answer to a question that its table cannot answer."""
_FIGURE = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_SWAP = str.maketrans(",.", ".,")


def list_figures(text: str) -> list[float]:
    """Return the figures of a text, read as in English and as in German."""
    found = _FIGURE.findall(f"{text} {text.translate(_SWAP)}")
    return [float(each.replace(",", "")) for each in found]


def is_right(right: Any, found: dict[str, Any]) -> bool:
    """Return whether an answer shows what is right, and no more rows than that."""
    summary = str(found["summary"])
    said = re.split(r"\n\n(?:From|Aus) ", summary)[0]
    if isinstance(right, dict):
        return all(shows(each, said) for pair in right.items() for each in pair)
    if isinstance(right, list):
        first = said.partition("\n")[0]
        is_whole = len(found.get("rows", [])) == len(right)
        return all(shows(each, said if is_whole else first) for each in right)
    return shows(right, " ".join(re.findall(r"\*\*([^*]*)\*\*", said)))


def shows(right: object, text: str) -> bool:
    """Return whether a text has a name, or a figure; a share may be in percent."""
    if isinstance(right, str):
        return right in text
    value = float(str(right))
    wanted = [value, 100 * value] if 0 < value <= 1 else [value]
    near = ((each, one) for each in list_figures(text) for one in wanted)
    return any(abs(each - one) <= TOLERANCE * max(1.0, abs(one)) for each, one in near)


def is_beside(right: Any, found: dict[str, Any]) -> bool:
    """Return whether what is shown beside a gap holds all of what is right."""
    held = [each for pair in right.items() for each in pair] if isinstance(right, dict) else right
    shown = str(found["summary"] or found.get("nearest", {}).get("text", ""))
    return right is not None and all(
        shows(each, shown) for each in (held if isinstance(held, list) else [held])
    )


def judge(right: Any, found: dict[str, Any]) -> str:
    """Return what an answer is worth; a gap is no claim, whatever is shown beside it."""
    if not found["is_complete"]:
        if right == REFUSED:
            return "refused rightly"
        return "refused, beside rows with it" if is_beside(right, found) else "refused"
    if right is None:
        return "not judged"
    return "right" if right != REFUSED and is_right(right, found) else "wrong"


def ask(path: Path, rows: int | None) -> Counter[str]:
    """Ask the questions of a set, and print those that are claimed and not right."""
    held = json.loads(path.read_text(encoding="utf-8"))
    verdicts = Counter[str]()
    for table, question, right in held["questions"][:rows]:
        asked = {"question": question, "language": detect_language(question)}
        found = analyze_table("none", "", {table: held["tables"][table]}, TIMEOUT_S, "", asked)
        verdict = judge(right, found)
        verdicts[verdict] += 1
        if verdict == "wrong":
            shown = str(found["summary"]).partition("\n")[0]
            print(f"  {table}: {question}\n    right: {right}\n    shown: {shown}")
    return verdicts


def main() -> None:
    """Ask the sets that are named, else all, and print how many answers are of each kind."""
    refused = ("refused", "refused, beside rows with it", "refused rightly")
    kinds = ("right", "wrong", "not judged", *refused)
    parser = ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help="set1 to set8; else all")
    parser.add_argument("--rows", type=int, help="only so many questions of each set")
    given = parser.parse_args()
    rows = []
    for path in sorted(SETS.glob("*.json")):
        if path.stem in given.sets or not given.sets:
            verdicts = ask(path, given.rows)
            rows.append(f"| {path.stem} | {' | '.join(str(verdicts[each]) for each in kinds)} |")
    print(f"\n| set | {' | '.join(kinds)} |\n|{'---|' * (len(kinds) + 1)}")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
