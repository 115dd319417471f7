"""Names that a statement may call are read from its text, however they are written."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.tools.sql.postgres import MAX_NAME_CHARS, SAFE_FUNCTIONS, list_names

pytestmark = pytest.mark.slow

NAMES = st.from_regex(r"[a-z_][a-z0-9_$]{0,40}", fullmatch=True)
BETWEEN = st.lists(
    st.sampled_from([" ", "\t", "\n", "\r", "\f", "\v", "/* x */", "/* /* y */ */", "-- z\n"]),
    max_size=4,
).map("".join)
BEFORE = st.sampled_from(
    ["SELECT ", "pg_catalog.", "a . ", "(", "1+", "'a'||", "$$x$$||", "*/", "="]
)


@given(
    before=BEFORE, name=NAMES, between=BETWEEN, quoted=st.booleans(), upper=st.booleans(),
    after=st.text(max_size=20),
)  # fmt: skip
def test_a_call_is_found_however_it_is_written(before, name, between, quoted, upper, after):
    written = f'"{name}"' if quoted else name.upper() if upper else name

    found = list_names(f"{before}{written}{between}({after}")

    assert (name, True) in found


@given(before=BEFORE, name=NAMES, after=st.sampled_from([",", " FROM sales", ";", "", " = 1", ")"]))
def test_a_name_that_nothing_is_passed_to_is_no_call(before, name, after):
    assert (name, False) in list_names(f"{before}{name}{after}")


def test_a_name_is_cut_as_the_server_cuts_it():
    assert list_names(f"SELECT {'a' * 100}(1)")[-2:] == [("a" * MAX_NAME_CHARS, True), ("", False)]


def test_a_text_that_repeats_itself_is_read_at_once():
    for text in ("a" * 100_000, "a " * 50_000, " " * 100_000, "a" + " " * 100_000, '"a"' * 30_000):
        began = time.monotonic()
        list_names(text)
        assert time.monotonic() - began < 10


def test_nothing_that_is_known_to_act_is_taken_for_a_computation():
    acting = {"set_config", "setval", "nextval", "pg_sleep", "pg_notify", "ts_stat", "txid_current"}

    assert not acting & set(SAFE_FUNCTIONS)
    assert not [
        name for name in SAFE_FUNCTIONS if name.startswith(("lo_", "pg_read", "pg_ls", "dblink"))
    ]
