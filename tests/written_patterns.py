"""All regular expressions of the code: written in its modules, or built from its data."""

import ast
import importlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Final

from nodes.limits.patterns import Pattern
from teams.code_review.tools.review import guidelines
from teams.contract_review.tools.contracts import clause_kinds, phrases, playbook
from teams.expert_router.tools.references import lookup
from teams.expert_router.tools.references.lookup import FIELDS
from teams.product_launch.tools.launch import channels

ROOT: Final = Path(__file__).parents[1]
WRITES: Final = re.compile(r"(?<![\w.])Pattern\(")
PLACES: Final = ("nodes/**/*.py", "extensions/**/*.py", "graph/**/*.py", "teams/*/tools/**/*.py")


def modules() -> list[str]:
    """Return the files that make patterns, relative to the repository."""
    files = sorted(file for place in PLACES for file in ROOT.glob(place))
    return [file.relative_to(ROOT).as_posix() for file in files if WRITES.search(file.read_text())]


def patterns_of(module: str) -> list[Pattern]:
    """Return the patterns that a module writes, and those that it builds from data."""
    loaded = importlib.import_module(module.removesuffix(".py").replace("/", "."))
    found = [*_within(list(vars(loaded).values())), *_within(_built(module))]
    for call in _calls(ROOT / module):
        try:
            found.append(eval(compile(ast.Expression(call), module, "eval"), vars(loaded)))
        except NameError:
            continue  # Its text is known only when the function that holds it runs.
    return list({(each.pattern, each.flags): each for each in found}.values())


def _calls(file: Path) -> list[ast.Call]:
    text = file.read_text(encoding="utf-8")
    if "Pattern(" not in text:
        return []
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return [call for call in calls if getattr(call.func, "id", "") == "Pattern"]


def _within(value: object) -> Iterator[Pattern]:
    """Yield the patterns that a value holds."""
    if isinstance(value, Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _within(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _within(each)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _within([getattr(value, each.name, None) for each in fields(value)])


def _built(module: str) -> object:
    match module:
        case "teams/contract_review/tools/contracts/phrases.py":
            return list(_phrases())
        case "teams/product_launch/tools/launch/channels.py":
            rules = channels.load_channel_book().rules
            return _ignoring_case(text for rule in rules for text in (rule.pattern, rule.lacks))
        case "teams/expert_router/tools/references/lookup.py":
            return [lookup._load_rules(each) for each in ("everywhere", *FIELDS)]
        case "teams/code_review/tools/review/guidelines.py":
            return guidelines.load_checks()
    return ()


def _ignoring_case(texts: Iterable[str | None]) -> list[Pattern]:
    return [Pattern(text, re.IGNORECASE) for text in texts if text]


def _phrases() -> Iterator[phrases.Phrase]:
    text = playbook.SHIPPED_PLAYBOOK.read_text(encoding="utf-8")
    for rule in playbook.read_playbook(playbook.SHIPPED_PLAYBOOK.name, text).rules:
        yield from (*rule.any, *rule.unless)
    for kind in clause_kinds.load_clause_kinds().values():
        yield from (*kind.headings, *kind.any, *kind.unless)
