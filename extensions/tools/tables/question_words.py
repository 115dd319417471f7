"""The closed lists of words that ask for an operation, in English and German, and word stems.

What a table is about is never listed here: it is read from its own columns and cells.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, reduce
from importlib import import_module
from itertools import dropwhile, product, takewhile
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.text.terms import list_base_forms
from nodes.text.word_lists import FUNCTION_WORDS, GERMAN_FUNCTION_WORDS, QUESTION_WORDS

_TOKEN: Final = Pattern(
    r"\d{4}-\d\d(?:-\d\d)?(?!\d)|\d\d?(?:st|nd|rd|th)\b|\d[\d,.]*\d|[^\W_]+(?:['\u2019](?!s\b)[^\W_]+)?|[<>]=?|[?;,()]"
    r"|[$€£¥](?=\s?\d)|(?:(?<=\d)|(?<=\d\s))[$€£¥]"
)
_SIGNS_OF_MONEY: Final = "$€£¥"
_COMPUTED_START: Final = Pattern(r"durchschnitts|gesamt", re.IGNORECASE)
"""Of a German compound: Durchschnittsgehalt."""
_NAME_PART: Final = Pattern(r"\d+|[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|[^\W\d_]+")
MIN_STEM_CHARS: Final = 4
_SUFFIX: Final = Pattern(
    r"(?:s|d|e|n|y|t|al|als|ed|en|er|ers|es|ier|iers|ies|ing|ings|ion|ions|ity|ities|ive|ly|ment|ments|ness"
    r"|or|ors|ous|able|ible|ful|an[ct]e?s?|en[ct]e?s?|ations?|itions?|ssions?|sions?|tions?|ates?"
    r"|ated|es?)?"
)
_ADDED_UP: Final = Pattern(
    r"\b(?:(?:add|adds|added) up|(?:come|comes|came|coming|amount|amounts|amounted)) to\b"
    r"(?=\s*(?:$|[?.,;]|(?:altogether|and|at|between|by|for|from|in|on|since)\b))",
    re.IGNORECASE,
)
_LEAST_PREFIX: Final = 3
"""Characters of a word that abbreviates a long one."""


@dataclass
class Token:
    """A word, number or mark of a question."""

    text: str
    start: int
    end: int
    role: str = ""
    """What it was read as; empty: it is open."""

    @property
    def word(self) -> str:
        """The text in lower case; of a verb that is denied, as "don't", what denies it."""
        text = self.text.lower()
        return "n't" if text.endswith(("n't", "n\u2019t")) else text


def split_question(text: str) -> list[Token]:
    """Return the words, numbers and marks of a question; "Gesamtbetrag" is two words.

    Of "what do they come to" the last two words are one that asks for a total.
    """
    text = _ADDED_UP.sub(lambda found: TOTAL_NAMES[0].ljust(len(found[0])), text)
    found = list[Token]()
    for each in _TOKEN.finditer(text):
        start, end = each.span()
        size = _COMPUTED_START.match(each.group())
        if size and end - start - size.end() >= MIN_STEM_CHARS:
            found.append(Token(text[start : start + size.end()], start, start + size.end()))
            start += size.end()
        found.append(Token(text[start:end], start, end))
        if found[-1].text[0].isdigit() and found[-2:-1] and found[-2].text in _SIGNS_OF_MONEY:
            found[-2:] = reversed(found[-2:])  # $30 is 30 $
    return [each for each in found if each.word != "s" or text[each.start - 1] not in "'\u2019"]


@lru_cache(4096)
def split_name(name: str) -> tuple[str, ...]:
    """Return the words of a column's, table's or file's name, in lower case."""
    return tuple(part.lower() for part in _NAME_PART.findall(name))


_SUPERLATIVE: Final = ("est", "ste", "sten", "ster", "stes")
_UMLAUTS: Final = (("ae", "ä"), ("oe", "ö"), ("ue", "ü"))
_languages: ContextVar[tuple[str, ...]] = ContextVar("languages", default=("en",))


@contextmanager
def read_words_of(language: str) -> Iterator[None]:
    """Compare words by their forms in a language inside, beside those of English."""
    token = _languages.set(tuple(dict.fromkeys(("en", language))))
    try:
        yield
    finally:
        _languages.reset(token)


def list_lemmas(word: str) -> frozenset[str]:
    """Return the words that a dictionary has for a word: sold is "sell", Räder is "rad".

    The word alone without the extra `tables`.
    """
    return frozenset().union(*(_find_lemmas(word, each) for each in _languages.get()))


@lru_cache(65536)
def _find_lemmas(word: str, language: str) -> frozenset[str]:
    try:
        library = import_module("simplemma")
    except ImportError:
        return frozenset({word})
    written = {word}
    if language == "de":  # a noun is known with its capital alone; file names have ae for ä
        spelled = reduce(lambda text, pair: text.replace(*pair), _UMLAUTS, word)
        written |= {word.capitalize(), spelled.capitalize()}
    return frozenset(library.lemmatize(each, lang=language).lower() for each in written)


def is_same_word(one: str, other: str) -> bool:
    """Return whether two words are forms of one word, or one abbreviates the other."""
    is_same = one == other or _has_same_stem(one, other)
    is_superlative = one.endswith(_SUPERLATIVE) != other.endswith(_SUPERLATIVE)
    if is_same or is_superlative or not (one.isalpha() and other.isalpha()):
        return is_same
    pairs = product(list_lemmas(one), list_lemmas(other))
    return any(
        one == other or _end_alike(one, other) or _is_doer_of(one, other) for one, other in pairs
    )


def is_identifier(name: str) -> bool:
    """Return whether a column's name says that its cells are codes: player_id, Artikelnummer."""
    parts = split_name(name)
    return any(part in LISTS["identifiers"] or part.endswith("nummer") for part in parts)


@lru_cache(65536)
def _has_same_stem(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if long.endswith("est") and short != long:
        return False  # the deepest of something is not its depth
    if one == other or list_base_forms(one) & list_base_forms(other):
        return True
    if not (one.isalpha() and other.isalpha()):
        return False
    if long.startswith(short) and len(short) >= (_LEAST_PREFIX if len(long) > 6 else 4):
        return True
    return _end_alike(one, other)


def _is_doer_of(one: str, other: str) -> bool:
    """Return whether a word is who does another: owner, of own."""
    short, long = sorted((one, other), key=len)
    return len(short) >= _LEAST_PREFIX and long in (f"{short}er", f"{short}or")


def _end_alike(one: str, other: str) -> bool:
    """Return whether two words are one but for their endings."""
    stem = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return stem >= MIN_STEM_CHARS and all(_SUFFIX.fullmatch(each[stem:]) for each in (one, other))


_WORDS: Final = """
operations = most: most meisten mehr more; least: least fewest wenigsten fewer weniger less;
  highest: highest largest biggest greatest maximum max best top höchste höchsten höchster höchstes
  größte größten größter größtes higher larger greater höher größer peak strongest; lowest: lowest
  smallest minimum min worst niedrigste niedrigsten kleinste kleinsten kleinster kleinstes geringste
  geringsten lower smaller weakest; average: average mean avg averaged durchschnitt durchschnittlich
  durchschnittliche durchschnittlichen durchschnittlicher durchschnittliches durchschnitts
  mittelwert; sum: total sum combined altogether overall totals insgesamt summe gesamt zusammen;
  count: count anzahl; share: share proportion fraction anteil; percent: percentage percent prozent;
  grow: grow grew grown growth increase increased rise rose risen gain gained climb climbed wuchs
  wachstum stieg; shrink: fall fell fallen shrink shrank drop dropped decline declined decrease
  decreased lose lost loss sank rückgang; change: change changed difference unterschied; fast:
  fastest quickest faster schnellsten relatively; per: per pro je; each: each every by jede jedem
  jeden jeder jedes nach across; not: not n't except excluding without never ohne nicht außer other
  neither nor weder noch non; none: no zero none kein keine keinen null
months = 1: january jan januar; 2: february feb februar; 3: march mar märz; 4: april apr; 5: may
  mai; 6: june jun juni; 7: july jul juli; 8: august aug; 9: september sep sept; 10: october oct
  oktober okt; 11: november nov; 12: december dec dezember dez
ordinals = 1: first 1st ersten; 2: second 2nd zweiten; 3: third 3rd dritten; 4: fourth 4th last
  vierten
small numbers = 2: two zwei; 3: three drei; 4: four vier; 5: five fünf; 6: six sechs; 7: seven
  sieben; 10: ten zehn
buckets = year: year years annually yearly jahr jahre; quarter: quarter quarters quarterly quartal;
  month: month months monthly monat monate; day: day days date daily tag tage datum
other names = female: women woman frauen; male: men man männer
signs = >=: since seit from ab von mindestens >=; >: after nach >; <: before vor <; <=: until till
  bis höchstens maximal <=
dimensions = money: billig cheap cost expensive geld günstig kosten money preiswert spend spent
  teuer; mass: heavy leicht light schwer weigh wiegen; time: dauern
lists = absent: fehlen fehlende fehlenden fehlt lack lacking lacks missing; aged: jüngste neueste
  neuester newest oldest ältester älteste ältesten; ages: age alter baujahr jahr year; any size:
  bigger fewer greater größer kleiner larger less mehr more smaller weniger; bases: over against
  über gegenüber; above: above bigger breiter deeper exceeding greater größer heavier higher höher
  länger larger longer mehr more over schwerer taller teurer tiefer über wider; asking: how wann was
  welche welchem welchen welcher welches wer what when where which who wie wo; below: below billiger
  cheaper fewer günstiger kleiner kürzer leichter less lighter lower narrower niedriger preiswerter
  shorter smaller under unter weniger; count names: anzahl count counts freq frequency n num number
  total; degrees: big great groß high hoch large; being: are is ist sind war waren was were; beside:
  and its mit their und with; comparing: compare compared comparison vergleich vergleiche verglichen
  versus vs; denials: 0 kein keine nein no none; due: has have is are need needs still yet; each
  alone: each everybody everyone jede jedem jeden jeder; early: earliest first oldest frühester
  früheste erste älteste ältester; late: last latest newest letzte letzter neueste neuester jüngste;
  generic values: amount figure obs value values wert werte; german: anteil meisten viele welche
  welchem welchen welcher welches wenigsten; having: haben had has hat hatte hatten have;
  identifiers: code fips iata id index isbn key lat latitude lon longitude no nr number phone plz
  postal postcode ssn zip zipcode; inside: among im in innerhalb inside unter within; intensive: age
  alter average avg density index mean median pct perc percent preis price quote rate rating ratio
  score share speed temp temperatur temperature; kinds: different distinct unique unterschiedliche
  verschiedene; light: answer befinden befindet liegen stehen steht sich darf dürfen kann können
  muss müssen soll sollen anywhere appear auf aus bei bekam bekamen bekommen belong betrug beträgt
  bring brings brought calculate came column columns come comes compare compute contain contains das
  data dataset dem den der des die ein eine einem einen einer entire entries er erhielt erhielten es
  ever figure figures file find fand fanden für gab gave get gibt ging give goes gone got haben
  happen happened hat hatte hatten high hoch ihr ihre ihrem ihren ihrer im include included ist kam
  kamen kind kommen kommt level liegt list listed live lived lives located made make mit number
  numbers occur occurred oder question rank ranked reach reached record recorded records registered
  reported row rows saw see seen sein seine seinem seinen seiner show shown sie sind piece pieces
  table tables take tell thing things took und value values viel viele vom von wann war waren welche
  welchem welchen welcher welches went wer werden whole wie wird wo wurde wurden zu zum zur
  zwischen; links: and beside das den der die how many oder or sowie than the to und versus vs with;
  listing: compare list order ordne rank sort sortiere top vergleiche; meaningful: above after again
  against also before below down except first former further half last latter near neither never
  next no noch none nor not off only other others over rest same second several since still third
  twice under until up weder without yet; no: 0 false n nein no; measured by: einheit einheiten unit
  units uom; particles: away back out; range links: and bis through till to und until; row names:
  column id lastname name names surname title; people: leute people personen persons; persons: wem
  wen wer who whom; prepositions: am at bei by for from in of on to um von zu ,; so far: already
  bereits currently gerade noch now schon still yet; sources: about by due durch from in of on von;
  speakers: i ich they we wir you; units: and chf cm dollar dollars eur euro euros g gbp gwh h hp in
  jpy kg km km2 kmh kwh l lb lbs m m2 min ml mm mph ms mwh of pct per perc s t the usd; vague: about
  almost approximately around by ca circa etwa innerhalb nearly roughly rund within; verbs: are came
  come comes did do does entfallen entfällt goes haben had has hat hatten have is ist kam kamen sind
  war waren was went were; which: welche welchem welchen welcher welches wer wessen which who whom
  whose; whole: all alle beide both these those; yes: 1 ja true y yes
"""
"""Closed lists: a section, with its names or roles, each with its words."""


def _read_sections() -> dict[str, dict[str, list[str]]]:
    found = dict[str, dict[str, list[str]]]()
    for section in _WORDS.strip().replace("\n  ", " ").splitlines():
        name, _, items = section.partition(" = ")
        pairs = (item.split(": ") for item in items.split("; "))
        found[name] = {role: words.split() for role, words in pairs}
    return found


_SECTIONS: Final = _read_sections()


def _index(section: str) -> dict[str, str]:
    return {word: role for role, words in _SECTIONS[section].items() for word in words}


def _count(section: str) -> dict[str, int]:
    return {word: int(number) for word, number in _index(section).items()}


LISTS: Final = {name: frozenset(words) for name, words in _SECTIONS["lists"].items()}
"""`which` and `asking` begin questions, `beside` is before what is asked for besides what ranks the
rows. Values of `intensive` columns are hardly added up, digits of `identifiers` mean no quantity,
and `row names` say not what a row is."""
OPERATIONS: Final = _index("operations")
MONTHS: Final = _count("months")
ORDINALS: Final = _index("ordinals")
SMALL_NUMBERS: Final = _count("small numbers")
BUCKETS: Final = _index("buckets")
OTHER_NAMES: Final = _index("other names")
"""Words for what tables write in another way."""
_DIMENSIONS: Final = _index("dimensions")
SIGNS: Final = _index("signs")
"""Words before a number or a period, each with its comparison."""
TOTAL_NAMES: Final = ("total", "totals", "grand total", "sum", "overall", "gesamt", "summe")
"""Labels of a row that sums up the others."""
NO_NAMES: Final = ("", "na", "n/a", "nan", "null", "-", "?", "k.a.", "k. a.")
"""Cells that name no group."""
NEVER_ADDED: Final = LISTS["intensive"] - {"price", "preis", "score", "alter"}
GRAMMAR: Final = (FUNCTION_WORDS | QUESTION_WORDS | LISTS["light"]) - LISTS["meaningful"]
"""Words that change nothing of what is asked."""


_AMOUNTS: Final = frozenset(("many", "much", "viel", "viele"))
_ENGLISH: Final = FUNCTION_WORDS | QUESTION_WORDS
_GERMAN: Final = GERMAN_FUNCTION_WORDS - _ENGLISH


def is_german_grammar(word: str) -> bool:
    """Return whether a word changes nothing of a German question."""
    return "de" in _languages.get() and word in GERMAN_FUNCTION_WORDS - LISTS["meaningful"]


def read_dimension(word: str) -> str:
    """Return the dimension that a word asks for: money, mass or time; empty for another word."""
    return next((_DIMENSIONS[n] for n in sorted(list_lemmas(word)) if n in _DIMENSIONS), "")


def is_foreign(word: str, words: Iterable[str]) -> bool:
    """Return whether a German article or verb is among English words: die, war."""
    if "de" in _languages.get():
        return False
    others = {*words} - {word}
    return word in _GERMAN and bool(others & _ENGLISH) and not others & _GERMAN


def is_opposite(word: str, parts: Iterable[str]) -> bool:
    """Return whether a word is one of a column's with something before it: unmarked, marked."""
    return any(
        word.endswith(part) and word != part for part in parts if len(part) >= MIN_STEM_CHARS
    )


def count_further_questions(words: Sequence[str], *, is_ranked: bool) -> int:
    """Return how many questions follow an "and", but for how high the ranked value is."""
    count, padded = 0, [*words, ""]
    for at, asking in enumerate(words):
        before = list(dropwhile(lambda word: word in LISTS["prepositions"], reversed(words[:at])))
        is_figure = asking in ("how", "wie") and padded[at + 1] in LISTS["degrees"] | _AMOUNTS
        is_joined = before[:1] in (["and"], ["und"]) and before[1:2] not in ([], ["?"])
        is_further = asking in LISTS["asking"] and is_joined
        count += is_further and not (is_figure and is_ranked)
    return count


def join_words(words: Iterable[str]) -> str:
    """Return words in quotation marks for a message."""
    return ", ".join(f"“{word}”" for word in words)


def is_cell_word(cell: str, heard: str) -> bool:
    """Return whether a word of a question is a word of a cell, or its plural."""
    if cell == heard or OTHER_NAMES.get(heard) == cell:
        return True
    return len(cell) > 2 and cell.isalpha() and cell in list_lemmas(heard)


def read_superlative(word: str) -> str:
    """Return whether a superlative is of the highest or the lowest; empty for another word."""
    if not word.endswith(_SUPERLATIVE):
        return ""
    compared = list_lemmas(word)
    if any(compared & list_lemmas(each) for each in LISTS["above"]):
        return "highest"
    return "lowest" if any(compared & list_lemmas(each) for each in LISTS["below"]) else ""
