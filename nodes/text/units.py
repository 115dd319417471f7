"""Units, scales, fractions and multiples as people write them, in English and German."""

import re
from collections.abc import Iterable
from typing import Final

SCALES: Final = {
    **dict.fromkeys(("k", "thousand", "thousands", "tausend", "tsd"), 1e3),
    **dict.fromkeys(("million", "millions", "mio", "mn", "millionen"), 1e6),
    **dict.fromkeys(("billion", "billions", "bn", "milliarde", "milliarden", "mrd"), 1e9),
    **dict.fromkeys(("trillion", "trillions", "tn", "trn", "billionen"), 1e12),
}
LETTER_SCALES: Final = {"m": 1e6, "b": 1e9, "t": 1e12}
"""Scales beside a currency, units elsewhere."""
UNITS: Final[dict[str, tuple[str, float]]] = {
    word: (dimension, float(factor))
    for dimension, units in {
        "%": "1 % percent prozent pct percentage|points pp",
        "usd": "1 $ us$ usd dollar dollars",
        "eur": "1 € eur euro euros",
        "gbp": "1 £ gbp",
        "jpy": "1 ¥ jpy yen",
        "chf": "1 chf francs franken",
        "length": "0.001 mm millimetres millimeters millimeter; 0.01 cm centimetres centimeters "
        "zentimeter; 1 m metre metres meter meters; 1000 km kilometre kilometres kilometer "
        "kilometers; 1609.344 mile miles meilen; 0.3048 ft feet foot; 0.0254 inch inches",
        "mass": "0.000001 mg; 0.001 g gram grams gramm; 1 kg kilogram kilograms kilogramm kilo "
        "kilos; 1000 t tonne tonnes tonnen ton tons; 0.45359237 lb lbs",
        "time": "0.001 ms millisecond milliseconds; 1 s sec second seconds sekunde sekunden; "
        "60 min minute minutes minuten; 3600 h hr hrs hour hours stunde stunden; "
        "86400 day days tag tage tagen; 604800 week weeks woche wochen",
        "months": "1 month months monat monate monaten; 12 year years jahr jahre jahren; "
        "120 decade decades",
        "energy": "1 wh; 1e3 kwh; 1e6 mwh; 1e9 gwh; 1e12 twh",
        "power": "1 w watt watts; 1e3 kw; 1e6 mw megawatt megawatts; 1e9 gw gigawatt gigawatts",
        "bytes": "1 byte bytes; 1e3 kb kilobyte kilobytes; 1e6 mb megabyte megabytes; "
        "1e9 gb gigabyte gigabytes; 1e12 tb terabytes",
        "volume": "0.001 ml; 1 l litre litres liter liters; 3.785411784 gallon gallons; 1000 m3 "
        "cubic|metre cubic|metres cubic|meter cubic|meters kubikmeter",
        "area": "1 m2 sqm square|metre square|metres square|meters quadratmeter; 1e6 "
        "square|kilometre square|kilometres square|kilometers quadratkilometer; "
        "1e4 ha hectare hectares hektar; 1e6 km2; 4046.8564224 acre acres",
    }.items()
    for group in units.split("; ")
    for factor, *words in [group.split()]
    for word in (each.replace("|", " ") for each in words)
}
CURRENCIES: Final = ("usd", "eur", "gbp", "jpy", "chf")
FRACTIONS: Final = {
    **dict.fromkeys(("half", "halves", "hälfte", "halbe"), 2),
    **dict.fromkeys(("third", "thirds", "3rd", "3rds", "drittel"), 3),
    **dict.fromkeys(("quarter", "quarters", "viertel", "4th", "4ths"), 4),
    **dict.fromkeys(("fifth", "fifths", "5th", "5ths", "fünftel"), 5),
    **dict.fromkeys(("sixth", "sixths", "6th", "6ths", "sechstel"), 6),
    **dict.fromkeys(("eighth", "eighths", "8th", "8ths", "achtel"), 8),
    **dict.fromkeys(("tenth", "tenths", "10th", "10ths", "zehntel"), 10),
}
MULTIPLES: Final = {
    **dict.fromkeys(("doubled", "double", "doubling", "twice", "doppelt", "verdoppelt"), 2.0),
    **dict.fromkeys(("tripled", "triple", "threefold", "verdreifacht", "dreifach"), 3.0),
    **dict.fromkeys(("quadrupled", "fourfold", "vervierfacht"), 4.0),
    **dict.fromkeys(("quintupled", "fivefold", "verfünffacht"), 5.0),
    **dict.fromkeys(("halved", "halbiert"), 0.5),
}
ABOUT: Final = "about|around|roughly|approximately|some|circa|ca|~|rund|etwa|ungefähr"
ABOVE: Final = "just over|over|more than|at least|gut|über|mehr als|mindestens"
BELOW: Final = (
    "just under|under|less than|fewer than|nearly|almost|at most|up to|no more than|knapp|fast"
    "|unter|weniger als|höchstens|bis zu"
)
_LOSS: Final = (
    "fell|fall|falls|fallen|falling|drop|drops|dropped|decline|declines|declined|decrease|decreases"
    "|decreased|decreasing|lower|lost|loss|losses|shrank|shrunk|down|below|minus|negative|deficit"
    "|reduced|reduction|cut|less|sank|gesunken|rückgang|verlust|weniger|niedriger|sinkt|fiel"
)
LOSS: Final = rf"\b(?:{_LOSS})\b"
"""Words by which a number without a sign is a negative one."""


def join_words(words: Iterable[str]) -> str:
    """Return words as the alternatives of a pattern, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
