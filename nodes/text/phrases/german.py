"""The program's own words in an answer, in German."""

from collections.abc import Mapping
from typing import Final

GERMAN: Final[Mapping[str, str]] = {
    "findings": "Befunde",
    "sources": "Quellen",
    "contradictions": "Widersprüche",
    "gaps": "Lücken",
    "confidence": "Konfidenz",
    "confidence_of": "{confidence} von 100",
    "confidence_unknown": "unbekannt",
    "confidence_unknown_for": "aber unbekannt für {tasks}",
    "finding_confidence_unknown": "(Konfidenz unbekannt)",
    "no_source": "keine Quelle",
    "status": "Status",
    "status_passages": "Textstellen gefunden, kein Sprachmodell hat sie gelesen",
    "status_partial": "unvollständig, Teile der Anfrage sind nicht beantwortet",
    "status_failed": "fehlgeschlagen, keine Aufgabe hat ein Ergebnis geliefert",
    "proof": "Belege",
    "quoted": "zitiert",
    "computed": "berechnet",
    "returned": "von einem Werkzeug geliefert",
    "stated": "ohne Quelle",
    "unproved": "nicht belegt",
    "claim_unproved": "nicht belegt: „{claim}“: {doubt}",
    "source_not_read": "{source} wurde nicht gelesen",
    "any_source": "dem Gelesenen",
    "quotation_not_there": "das Zitat steht nicht in {source}",
    "not_in_quotation": "{what} steht nicht im Zitat",
    "not_in_source": "{what} ist in {source} an dieser Stelle nicht zu finden",
    "unsupported": "durch keine Quelle belegt: {what} in „{line}“",
    "unsupported_mark": "(durch keine Quelle belegt)",
    "not_answered": "nicht beantwortet: {part}",
    "not_read": "nicht gelesen: {name} ({reason})",
    "needs_model": "Dieser Teil braucht ein Sprachmodell: {part}",
    "no_result": "keine Aufgabe hat ein Ergebnis geliefert",
    "plan_by_rule": (
        "kein Modell lieferte einen gültigen Plan, daher wurde er nach Regeln erstellt: {reason}"
    ),
    "of_tasks": "{tasks}: {reason}",
    "held": "das Zertifikat des Laufs erlaubt keinen anderen Plan, keine andere Aufgabe, keinen "
    "anderen Bearbeiter und keine höhere Grenze",
    "not_run": "nicht ausgeführt, bevor eine Grenze des Laufs erreicht war{caps}: {task}",
    "not_possible": "nicht möglich ({reason}): {message}",
    "failed": "fehlgeschlagen: {reason}",
    "skipped": "übersprungen: {reason}",
    "lacks": "lückenhaft: {gap}",
    "not_fixed": "{task} wurde zurückgewiesen und nicht behoben: das erste Ergebnis gilt",
    "results_cut": "die Ergebnisse sind zusammen länger als {chars} Zeichen und wurden gekürzt",
    "group_cut": ("die Ergebnisse von {tasks} wurden gekürzt, nicht zusammengefasst: {reason}"),
    "group_unreadable": (
        "die Ergebnisse von {tasks} wurden gekürzt, ihre Zusammenfassung war nicht lesbar"
    ),
    "synthesis_failed": (
        "die Zusammenführung ist fehlgeschlagen, die Berichte stehen unverändert da: {reason}"
    ),
    "synthesis_unreadable": (
        "die Antwort des Modells war nicht lesbar, die Berichte stehen unverändert da"
    ),
    "out_of_scope": "gehört nicht zum Aufgabengebiet",
    "ambiguous_input": "Angaben fehlen oder sind unklar",
    "confidence_too_low": "zu unsicher",
    "timeout": "Zeit abgelaufen",
    "undecided": "nicht entscheidbar",
    "neither_holds": "keine von beiden gilt",
    "first_holds": "die erste gilt ({source})",
    "second_holds": "die zweite gilt ({source})",
    "no_reason": "der Prüfer nannte keinen Grund",
    "no_judge": "kein Prüfer wurde gefragt",
    "no_judging_model": "es ist kein Modell eingerichtet, das urteilen könnte",
    "no_ruling": "der Prüfer hat darüber nicht entschieden",
    "judge_failed": "die Prüfung ist fehlgeschlagen: {reason}",
    "judge_unreadable": "das Urteil des Prüfers war nicht lesbar",
    "no_model_usable": ("Keine Aufgabe konnte erledigt werden, da kein Modell verwendbar war."),
    "none_completed": "Keine Aufgabe konnte erledigt werden.",
    "nothing_found_out": "Es ließ sich nichts herausfinden.",
    "more_gaps": "und {count} weitere",
    "for_an_answer": "Für eine Antwort: {remedy}.",
    "for_what_is_missing": "Für das Fehlende: {remedy}.",
    "no_answer_written": (
        "Aus diesen Berichten konnte keine Antwort geschrieben werden. Für eine Antwort: {remedy}."
    ),
    "or": ", oder ",
    "and": " und ",
    "resume": "den Lauf fortsetzen",
    "repair_and_resume": "{ways}, und den Lauf fortsetzen",
    "with_larger": "{remedy} mit mehr {options}",
    "ask_with_file": "die Anfrage mit einer lesbaren Datei stellen",
    "ask_contact": "{contact} fragen",
    "ask_human": "jemanden fragen, der das kann",
    "ask_in_its_words": (
        "Wörter der Dateien verwenden, oder ein Sprachmodell einrichten (`supervise doctor`)"
    ),
    "check_endpoint": "prüfen, ob der Endpunkt des Modells erreichbar ist und die Adresse stimmt",
    "wait_for_faster": (
        "warten, bis der Endpunkt des Modells schneller ist, oder ein anderes Modell nennen"
    ),
    "wait_for_calls": "warten, bis der Endpunkt des Modells wieder Aufrufe annimmt",
    "add_quota": "das Guthaben des Modellkontos erhöhen",
    "correct_key": "den Schlüssel des Modells berichtigen",
    "passages": "Textstellen gefunden; kein Sprachmodell hat sie gelesen",
    "no_model": (
        "Es ist kein Sprachmodell eingerichtet: dies sind Sätze und Zahlen aus Ihren Dateien."
    ),
    "nothing_found": "Nichts gefunden in {places}",
    "nothing_to_work_on": "Es gab nichts zu bearbeiten: kein Ergebnis von {tasks}",
    "tool_not_called": (
        "{tool} wurde nicht aufgerufen: ohne Sprachmodell geben die Worte {argument} nicht her"
    ),
    "no_file": "Es gibt keine Datei; bitte eine anhängen",
    "numbers_unused": "{tool} wurde ohne {numbers} aufgerufen: dazu braucht es ein Sprachmodell",
    "its_argument": "das Argument {names}",
    "its_arguments": "die Argumente {names}",
    "answer_unused": (
        "Die Antwort ändert keinen Aufruf: um sie zu nutzen, braucht es ein Sprachmodell"
    ),
}
