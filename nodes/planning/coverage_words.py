"""Words by which parts of requests are compared with tasks, English and German."""

from typing import Final


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def fold_word(word: str) -> str:
    """Return a word in lower case and without umlauts."""
    return word.casefold().translate(_FOLDED)


_FOLDED = str.maketrans({"ä": "a", "ö": "o", "ü": "u"})

POLITE_WORDS: Final = _split_words("""
additionally all bitte brief briefly cheers concise concisely dank danke dear finally freundliche
freundlichen furthermore good gruß grüße guten hallo hello help hey hi kind knapp kurz lastly
liebe lieben lot morning please regards short sincerely tag team thank thanks vielen zusammen
""")
"""Words of greetings, thanks and how short an answer is wanted."""

EMPTY_WORDS: Final = _split_words("""
additional analysi analysis aspect assessment attached best better biggest case cheapest come
complete current detail different document figure first following further general good highest
important include information issue item key kind largest latest lowest main most my need new old
other part possible problem relevant report right set several similar source specific thing three
two type up version way well word worst year
""")
"""Words that tell no part of a request from another."""

ORDERS: Final = _split_words("""
investigate look pull research
""")
"""Verbs that ask for a result, beside those of the splitter."""

OPENINGS: Final = _split_words("""
additionally after afterwards also and außerdem bitte danach dann finally first furthermore hallo
hello hi lastly next please second so that then third und zuerst zuletzt
""")
"""Words before what a sentence asks for."""

POINTERS: Final = _split_words("""
daraus davon es it sie that them they this
""")
"""Words for what another part names."""

RESULTS: Final = _split_words("""
answer answers antwort antworten befunde ergebnis ergebnisse finding findings it result results
them these they this
""")
"""Words for what the tasks bring, whose form is no part of its own."""

_SYNONYMS: Final = """
write draft compose prepare produce create generate verfass schreib entwirf entwerf erstell dicht
compare comparison contrast against versus beside rank vergleich gegenüber
recommend propose suggest advise advice recommendation empfiehl empfehl empfehlung schlag vorschlag
summary summarise summarize overview outline sum zusammenfassung fasse überblick
cost price expense charge fee spend kosten preis gebühr ausgabe
revenue income turnover sales takings umsatz erlös einnahme
cause reason why root grund ursache warum weshalb
undo revert rollback roll restore zurückrollen zurückrollen zurücknehm rückgängig
fix repair correct patch mend behebe beseitig korrektur patch
risk danger hazard threat risky riskant risiko
check verify validate test audit examine confirm prüf
trend course development growth change history verlauf entwicklung wachstum
forecast outlook projection predict prognose ausblick
explain describe say tell state show erklär beschreib sag nenn
rival competitor competition wettbewerber konkurrenz konkurrier
customer client guest user kunde kundin gast gäste
medicine drug medication pill tablet prescription medikament tablette mittel
size volume amount größe volumen
player maker manufacturer anbieter hersteller
slow speed performance fast latency needless langsam schnell
bug defect error failure cause fehler ausfall störung ursache
refund money back erstattung geld
order sequence arrange first reihenfolge zuerst
folder directory path ordner verzeichnis
switch enable activate turn automatic einschalt aktivier
party sign signatory partei
quote quotation cite zitat zitier wörtlich
unusual odd deviation differ unüblich ungewöhnlich auffällig abweich
confidential secret geheim vertraulich
allergy allergen intolerance
certificate tls ssl zertifikat
grow grew growth increase rise rose wachstum wuchs gestieg
"""

GROUPS: Final = tuple(
    tuple(map(fold_word, line.split())) for line in _SYNONYMS.splitlines() if line
)
"""Words that may be used for one another, a group a line."""
