"""What of a question on a table may be read in another way, and how that is said."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from extensions.tools.tables.formatting import read_phrases
from nodes.text.phrases import DEFAULT_LANGUAGE

_TEXTS: Final = """
refused: {text} | {text}
only: only {done} was computed, not {other} | nur {done} wurde berechnet, nicht {other}
one_of_two: two things are asked for, and one was computed |
  nach zwei Dingen ist gefragt, und eines wurde berechnet
one_shown: two are asked for, and one is shown | nach zweien ist gefragt, und eines ist gezeigt
both_ends: the highest and the lowest are asked for |
  nach dem Höchsten und dem Niedrigsten ist gefragt
and_average: a number and an average are asked for; one was computed |
  nach einer Zahl und einem Durchschnitt ist gefragt; eines wurde berechnet
no_names: it is asked which one, and one figure without names was read |
  es ist gefragt, welche es sind, und gelesen wurde eine Zahl ohne Namen
no_choice: it is asked which ones, and nothing was read that tells them from the others |
  es ist gefragt, welche es sind, und nichts gelesen, was sie von den anderen unterscheidet
no_numbers: how much is asked for, and no column of numbers is named |
  es ist gefragt, wie viel, und keine Spalte mit Zahlen ist genannt
no_dates: the table has no column of dates, which say when |
  die Tabelle hat keine Spalte mit Daten, die sagen, wann
kinds_or_rows: different ones of {name} were counted; rows may be meant |
  gezählt wurden verschiedene {name}; gemeint sein können die Zeilen
or_sum: rows, or the sum of {name} | Zeilen, oder die Summe von {name}
or_amount: an amount may be meant, not the number of {name} |
  gemeint sein kann eine Menge, nicht die Anzahl von {name}
as_sum: the sum of {name} was read; a single value may be meant |
  gelesen wurde die Summe von {name}; gemeint sein kann ein einzelner Wert
not_added: the values of {name} are not added up | Werte von {name} werden nicht addiert
codes: {name} holds codes, which mean no quantity | {name} enthält Kennzahlen und keine Mengen
several_periods: summed over several periods; name one, or ask for the total |
  summiert über mehrere Zeiträume; nennen Sie einen, oder fragen Sie nach der Summe
all_periods: a figure without a period counts all periods; another part of the request names one |
  eine Zahl ohne Zeitraum zählt alle; ein anderer Teil der Anfrage nennt einen
first_and_last: the first and the last {period} are compared, not each |
  verglichen werden der erste und der letzte Zeitraum ({period}), nicht jeder
share_in: a share of {words}, or in it | ein Anteil von {words}, oder darin
of_rows: the condition was read of single rows, not of sums over them |
  die Bedingung wurde für einzelne Zeilen gelesen, nicht für Summen daraus
averaged_rows: single rows were averaged, not the sums of each {period} |
  einzelne Zeilen wurden gemittelt, nicht die Summen je Zeitraum ({period})
fit_equally: {names} fit equally; {chosen} was taken | {names} passen gleich gut; genommen: {chosen}
name_one: {names} fit equally; name one | {names} passen gleich gut; nennen Sie eine
in_two: {cell!r} is in {column} and {other}; name one |
  {cell!r} ist in {column} und {other}; nennen Sie eine
beside: other rows of {column} have {cell!r} beside something else: {count} |
  andere Zeilen von {column} haben {cell!r} neben anderem: {count}
column_or_cell: {word!r} may be a column or the cell {cell!r} |
  {word!r} kann eine Spalte sein oder die Zelle {cell!r}
either: “or” between {one} and {other}: only both together can be looked for |
  „oder“ zwischen {one} und {other}: gesucht werden kann nur beides zusammen
comparison: it is unclear how “{words}” compares with {column} |
  es ist unklar, wie „{words}“ mit {column} zu vergleichen ist
empty: {names}: empty where {where} | {names}: leer bei {where}
no_row: no row of {words} | keine Zeile zu {words}
many_fit: {count} rows fit | {count} Zeilen passen
sums_differ: {first} or {top}: single rows and sums over the rows differ |
  {first} oder {top}: einzelne Zeilen und Summen darüber sind verschieden
which_year: {period} is in several years; name one |
  {period} ist in mehreren Jahren; nennen Sie eines
needs_row: it is unclear which rows “{text}” points back to; name them |
  es ist unklar, auf welche Zeilen „{text}“ verweist; nennen Sie sie
unclear_it: it is unclear what “{word}” means; name it |
  es ist unklar, was „{word}“ meint; nennen Sie es
elsewhere: “{word}” is in {tables}; no tables are joined |
  „{word}“ ist in {tables}; Tabellen werden nicht verbunden
"""


_PHRASES: Final = read_phrases(_TEXTS)
_OF_RESULTS: Final = ("only", "one_of_two", "one_shown", "of_rows", "averaged_rows", "all_periods")
"""Kinds that say what was computed or shown."""


@dataclass(frozen=True)
class Doubt:
    """One thing that may be meant in another way than it was read."""

    kind: str
    values: Mapping[str, object]

    @property
    def is_of_result(self) -> bool:
        """Whether it says something only beside a result."""
        return self.kind in _OF_RESULTS

    def write(self, language: str) -> str:
        """Return the doubt in words; in English where the language is not known."""
        return _PHRASES.get(language, _PHRASES[DEFAULT_LANGUAGE])[self.kind].format(**self.values)


ALL_PERIODS: Final = Doubt("all_periods", {})
