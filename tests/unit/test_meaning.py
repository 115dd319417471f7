"""Comparing texts by meaning, with the extra `meaning` and without it."""

import logging
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from nodes.text import similarity
from nodes.text.similarity import is_meaning_available, measure_meaning, rank_examples
from tests.unit.extensions.embedded.embedded_runs import make_example, make_team
from tests.unit.extensions.embedded.test_embedded_worker import YARD, route

BIRDS = ["The kettle is on the stove", "A flock of starlings crossed the sky"]

EXAMPLES = [
    make_example("My horse limps", {"vet": ()}),
    make_example("Mend this gate", {"smith": ()}),
]

with_extra = pytest.mark.skipif(
    find_spec("wordllama") is None, reason="the extra `meaning` is not installed"
)


def forget_models() -> None:
    similarity._load_model.cache_clear()
    similarity._embed_text.cache_clear()


@pytest.fixture
def without_extra(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "wordllama", None)
    forget_models()
    yield
    forget_models()


@pytest.mark.usefixtures("without_extra")
def test_without_the_extra_nothing_is_similar() -> None:
    assert not is_meaning_available()
    assert measure_meaning("birds in the air", BIRDS) == [0.0, 0.0]


@pytest.mark.usefixtures("without_extra")
def test_without_the_extra_words_alone_route_and_rank() -> None:
    team = make_team(YARD, *EXAMPLES)

    assert route(team, "The gate hangs askew")["worker"] == "smith"
    assert route(team, "A pony has hurt its leg")["worker"] == ""
    assert rank_examples("a flock", BIRDS) == [(1, True), (0, False)]


@with_extra
def test_texts_of_one_meaning_are_similar_without_a_common_word() -> None:
    kettle, starlings = measure_meaning("birds flying overhead", BIRDS)

    assert starlings > kettle
    assert rank_examples("birds flying overhead", BIRDS)[0][0] == 1


@with_extra
def test_a_request_goes_to_the_worker_whose_examples_mean_the_same() -> None:
    team = make_team(YARD, *EXAMPLES)

    assert route(team, "A pony has hurt its leg")["worker"] == "vet"


@with_extra
@pytest.mark.parametrize("text", ["", " ", "\n\t", "\N{ZERO WIDTH SPACE}", "x" * 100_000])
def test_any_text_can_be_compared(text: str) -> None:
    assert all(0 <= each <= 1.001 for each in measure_meaning(text, [text, "a kettle"]))


@with_extra
def test_loading_the_model_leaves_the_log_alone() -> None:
    before = (logging.getLogger().level, list(logging.getLogger().handlers))
    forget_models()

    measure_meaning("birds", BIRDS)

    assert (logging.getLogger().level, list(logging.getLogger().handlers)) == before
