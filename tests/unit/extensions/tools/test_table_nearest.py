"""The rows nearest to a question that is not answered: shown as they are, and no answer."""

from extensions.tools.sql.table_answer import MAX_RESULTS
from tests.unit.extensions.tools.test_table_words import find

SHOWS = (
    "show,host,day,start,live,last_aired\nLate Brass,Falk,Tuesday,21:00,no,2024-06-25\n"
    "Folk Hour,Stirk,Thursday,19:00,yes,\nQuiz Down,Amadi,Thursday,20:30,yes,\n"
)


def find_nearest(question: str, table: str = SHOWS, **asked: str) -> str:
    found = find(table, question, **asked)
    assert not found["is_complete"] and not found["summary"] and "rows" not in found
    return str(found.get("nearest", {}).get("text", ""))


def test_a_row_that_a_question_names_is_shown_whole():
    nearest = find_nearest("When did Late Brass stop?")

    assert "(where show = Late Brass), 1 of 3:" in nearest
    assert "| Late Brass | Falk | Tuesday | 21:00 | no | 2024-06-25 |" in nearest


def test_of_the_columns_of_a_wide_table_the_named_ones_are_shown_and_what_names_the_rows():
    more = ",".join(f"field_{n}" for n in range(6))
    lines = [f"{line},{more if at == 0 else ',,,,,'}" for at, line in enumerate(SHOWS.splitlines())]

    nearest = find_nearest("Whose start on Thursday is hectic?", "\n".join(lines))

    assert "| show | start | day |" in nearest
    assert "| Quiz Down | 20:30 | Thursday |" in nearest and "Late Brass" not in nearest


def test_a_small_table_is_shown_whole_where_nothing_chooses_rows():
    nearest = find_nearest("Which shows have been cancelled?")

    assert nearest.startswith("No answer was computed. The rows of") and "| Folk Hour |" in nearest


def test_a_long_table_has_no_nearest_rows_where_nothing_chooses_some():
    many = "show,day\n" + "".join(f"Show {n},Monday\n" for n in range(MAX_RESULTS + 1))

    assert find_nearest("Which shows have been cancelled?", many) == ""


def test_where_no_row_fits_those_of_the_named_cells_are_nearest():
    nearest = find_nearest("Which shows on Thursday started before 2020 and were popular?")

    assert "(where day = Thursday), 2 of 3:" in nearest


def test_rows_whose_cells_have_an_unread_word_are_nearest():
    table = "item,paid\nPosters for the concert,yes\nNew piano,no\n"

    nearest = find_nearest("Who approved the posters?", table)

    assert "(where item has “posters”), 1 of 2:" in nearest


def test_a_table_that_lacks_the_words_of_a_question_shows_no_rows():
    assert find_nearest("Who repaired the roof of the library?") == ""


def test_an_answer_has_no_nearest_rows_beside_it():
    assert "nearest" not in find(SHOWS, "Which show is on Tuesday?")


def test_the_words_above_the_rows_are_in_the_language_of_the_question():
    table = "Sendung,Tag\nAbendlied,Montag\nMorgengruß,Dienstag\n"

    nearest = find_nearest("Wurde die Sendung am Montag abgesetzt?", table, language="de")

    assert nearest.startswith("Es wurde keine Antwort berechnet. Die nächsten Zeilen von")
