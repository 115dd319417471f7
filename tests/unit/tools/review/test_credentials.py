"""Secrets in added lines, told from what only looks like one."""

import pytest

from teams.code_review.tools.review.diff import read_diff
from teams.code_review.tools.review.security_scan import find_secrets
from tests.unit.tools.review.changes import make_file_diff

TOKEN = "ghp_" + "x7Kq2LmN9pRs4TuV6wYz8AbC1dEf3GhJ5kLm"
RANDOM = "kJ8s0dQ2" + "mX9vR4tLw7ZpB1nYc6Hf"


def find_confidence(line: str, name: str = "app.py", after: str = "") -> int:
    """Return how sure the surest hit on a line is; 0 where there is none."""
    change = read_diff(make_file_diff(name, "", f"{line}\n{after}\n"))
    return max((hit.confidence for hit in find_secrets(change.files) if hit.line == 1), default=0)


@pytest.mark.parametrize(
    "line",
    [
        f'token = "{TOKEN}"',
        f"TOKEN={TOKEN}",
        'url = "postgres://app:Zq81kfLw@db.internal/app"',
        f'password = "{RANDOM}"',
        f'api_key: "{RANDOM}"',
    ],
)
def test_a_secret_is_sure(line: str) -> None:
    assert find_confidence(line) >= 80


@pytest.mark.parametrize(
    "line",
    [
        'password = "password"',
        'password = os.environ["PASSWORD"]',
        'password = get_password("main")',
        'secret = "{{ vault.secret }}"',
        'api_key = "<your-key-here>"',
        'url = "amqp://guest:guest@localhost"',
        'url = f"https://{user}:{password}@host"',
        'commit = "9fceb02d0ae598e95dc970b74767f19372d61af8"',
        'label = "The password is wrong"',
        'if "BEGIN RSA PRIVATE KEY" in text:',
    ],
)
def test_what_only_looks_like_one_is_at_most_a_hint(line: str) -> None:
    assert find_confidence(line) < 80


def test_a_private_key_is_recognised_by_its_second_line() -> None:
    head = "-----BEGIN RSA PRIVATE KEY-----"

    assert (
        find_confidence(head, "key.pem", "MIIEpAIBAAKCAQEA" + "x7Kq2LmN9pRs4TuV6wYz8AbC" * 2) >= 80
    )
    assert find_confidence(head, "key.pem", "nothing") < 80


def test_a_secret_is_found_far_into_a_long_line() -> None:
    assert find_confidence(f'{"x + " * 2_000}f(token="{TOKEN}")') >= 80


def test_it_is_less_sure_in_documents_and_tests() -> None:
    assert find_confidence(f'token = "{TOKEN}"', "docs/usage.md") < 80
    assert find_confidence(f'token = "{TOKEN}"', "tests/test_app.py") < 80
