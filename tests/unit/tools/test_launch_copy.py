"""Copy against channels, and the prices that documents name."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teams.product_launch.tools.check_copy import check_copy
from teams.product_launch.tools.launch import channels
from teams.product_launch.tools.launch.channels import find_channel, load_channel_book
from teams.product_launch.tools.launch.drafts import find_drafts
from teams.product_launch.tools.price_points import price_points

CHANNELS = load_channel_book().channels
MAX_RESULT_CHARS = 20_000


async def call_tool(materials: dict[str, str] | None = None, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = await check_copy.ainvoke({**arguments, "materials": materials})
    assert len(json.dumps(answer)) < MAX_RESULT_CHARS
    return answer


async def check_text(channel: str, text: str) -> dict[str, Any]:
    return await call_tool(texts=[{"channel": channel, "text": text}])


def join_messages(answer: dict[str, Any]) -> str:
    return " ".join(finding["message"] for finding in answer["findings"])


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("a" * 280, 280),
        ("caf\u00e9", 4),
        ("cafe\u0301", 4),
        ("\u65e5\u672c", 4),
        ("\U0001f47e", 2),
        ("\U0001f64b\U0001f3fd", 2),
        ("\U0001f468\u200d\U0001f3a4", 2),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", 2),
        ("https://example.com", 23),
        ("https://example.com/very/long/path", 23),
        ("see https://example.com/a and https://example.com/b", 4 + 23 + 5 + 23),
    ],
)
def test_a_post_weighs_what_the_platforms_own_examples_weigh(text, weight):
    assert channels.count_x_weight(text) == weight


@pytest.mark.parametrize(
    ("text", "length", "most", "parts"),
    [
        ("a" * 160, 160, 160, 1),
        ("a" * 161, 161, 160, 2),
        ("a" * 307, 307, 160, 3),
        ("\u20ac" * 80, 160, 160, 1),
        ("[" * 81, 162, 160, 2),
        ("\u00e4\u00f6\u00fc\u00df\u00e9\u00c7", 6, 160, 1),
        ("\u65e5" * 70, 70, 70, 1),
        ("\u65e5" * 71, 71, 70, 2),
        ("a\u00e7", 2, 70, 1),
        ("\U0001f526", 2, 70, 1),
    ],
)
def test_a_text_message_is_counted_in_its_alphabet(text, length, most, parts):
    assert channels.measure_sms(text) == (length, most, parts)


def test_wide_characters_count_twice_in_ads_and_bytes_in_keywords():
    assert channels.count_display_width("\u65e5\u672c ok") == 7
    assert channels.count_bytes("caf\u00e9") == 5


@given(st.text(max_size=300))
def test_any_text_can_be_counted(text):
    for channel in CHANNELS.values():
        length, most = channel.measure_text(text.encode("utf-8", "ignore").decode())
        assert length >= 0 and most > 0


@pytest.mark.parametrize(
    ("heading", "channel"),
    [
        ("Google Ads headlines", "google_ads_headline"),
        ("3. Search ad descriptions (new)", "google_ads_description"),
        ("Google Play short description", "google_play_short_description"),
        ("App Store subtitle", "app_store_subtitle"),
        ("Subject lines", "email_subject"),
        ("Tweets", "x_post"),
        ("SMS to members", "sms"),
        ("Press release", None),
        ("Version X", None),
    ],
)
def test_a_heading_names_its_channel_in_usual_words(heading, channel):
    assert find_channel(heading) == channel


def test_every_limit_and_rule_names_its_source():
    book = load_channel_book()

    assert all(channel.source for channel in book.channels.values())
    assert all(rule.source and (rule.pattern or rule.lacks) for rule in book.rules)
    assert all(key in book.channels for rule in book.rules for key in rule.channels)
    assert {key: channel.max for key, channel in book.channels.items()} == {
        "google_ads_headline": 30,
        "google_ads_description": 90,
        "google_ads_path": 15,
        "x_post": 280,
        "sms": 160,
        "email_subject": 50,
        "app_store_name": 30,
        "app_store_subtitle": 30,
        "app_store_promotional_text": 170,
        "app_store_keywords": 100,
        "app_store_description": 4000,
        "google_play_title": 30,
        "google_play_short_description": 80,
        "google_play_description": 4000,
    }


def test_drafts_are_cut_as_their_channel_publishes_them_with_their_lines():
    text = (
        "# Draft\n\nnot copy\n\n## Google Ads headlines\n\n- One\n2. Two\n\n"
        "## SMS\n\nFirst\nline\n\nSecond\n\n## Google Play description\n\nA\n\nB\n\n## Notes\n\nx\n"
    )

    found, unknown = find_drafts("copy.md", text)

    assert [(draft.text, draft.line) for draft in found] == [
        ("One", 7),
        ("Two", 8),
        ("First\nline", 12),
        ("Second", 15),
        ("A\n\nB", 19),
    ]
    assert unknown == ["Notes"]


@pytest.mark.parametrize(
    ("channel", "text", "remark"),
    [
        ("google_ads_headline", "a" * 31, "is 1 too long"),
        ("google_ads_description", "a" * 91, "is 1 too long"),
        ("google_ads_headline", "Bright!!", "repeats punctuation: '!!'"),
        ("google_ads_headline", "Light \U0001f526", "holds an emoji"),
        ("google_ads_headline", "The best light", "claims a rank, which needs proof: 'best'"),
        ("x_post", "a" * 281, "is 1 too long"),
        ("x_post", "It cures tired eyes", "claims an effect on health: 'cures'"),
        ("sms", "a" * 161 + " STOP", "takes 2 messages: 166 characters, and one holds 160"),
        ("sms", "Buy now", "does not say how to opt out"),
        ("sms", "\u65e5" * 71 + " STOP", "signs outside the GSM alphabet holds 70"),
        ("email_subject", "a" * 51, "is 1 over the 50 that are advised"),
        ("email_subject", "Re: your light", "poses as an answer"),
        ("app_store_name", "Free Light", "names a price: 'Free'"),
        ("app_store_keywords", "\u00e4" * 51, "is 2 too long"),
        ("google_play_title", "SHINE free", "has a word on price, promotion or rank"),
    ],
)
async def test_what_a_channel_does_not_take_is_a_finding(channel, text, remark):
    answer = await check_text(channel, text)

    assert remark in join_messages(answer)


@pytest.mark.parametrize(
    ("channel", "text"),
    [
        ("google_ads_headline", "a" * 30),
        ("x_post", "a" * 280),
        ("sms", "Nordlys is here. Reply STOP to end"),
        ("email_subject", "a" * 50),
        ("google_play_title", "Nordlys"),
        ("google_ads_description", "Clip on. Run on. Ten hours of light."),
    ],
)
async def test_what_fits_has_no_finding(channel, text):
    answer = await check_text(channel, text)

    assert answer["findings"] == []
    assert "1 text checked: 1 without a remark" in answer["summary"]


async def test_ones_own_forbidden_words_come_from_a_table():
    words = {"words.csv": "forbidden,reason\nsafe,no report\ncheap,not our word\n"}
    texts = [{"channel": "x_post", "text": "Safe, never cheaply made"}]

    answer = await call_tool(words, texts=texts)

    assert "says 'safe', which you forbid (no report)" in join_messages(answer)
    assert "cheap" not in join_messages(answer).split("which")[1]


async def test_drafts_are_found_among_the_materials_and_cited_with_their_line():
    answer = await call_tool({"copy.md": "## SMS\n\nHello\n", "notes.md": "# Notes\n\nno copy\n"})

    (finding,) = answer["findings"]
    assert (finding["file"], finding["line"]) == ("copy.md", 3)
    assert (
        answer["claims"][0]["source"] == "copy.md" and answer["claims"][0]["quotation"] == "Hello"
    )


async def test_only_the_drafts_of_the_named_channels_are_checked():
    copy = {"copy.md": "## SMS\n\nHello\n\n## X posts\n\nHello\n\nAgain\n"}

    answer = await call_tool(copy, channels=["x_post"])

    assert [claim["text"].split(" in ")[0] for claim in answer["claims"]] == ["X post", "X post"]


async def test_without_copy_the_limits_are_listed_with_their_source_and_the_gap_is_named():
    answer = await call_tool(channels=["google_ads_headline", "sms"])

    assert [claim["text"] for claim in answer["claims"]] == [
        "Google Ads headline: at most 30 (wide).",
        "SMS: at most 160 (sms).",
    ]
    assert "writing it takes a language model or a person" in answer["gaps"][0]


async def test_an_unknown_channel_is_named_and_not_checked():
    answer = await call_tool({"copy.md": "## Billboard\n\nHello\n\n## SMS\n\nHello STOP\n"})

    assert "No channel is known for 'Billboard'" in answer["gaps"][0]


async def test_much_copy_still_fits_into_the_answer_and_the_rest_is_named():
    line = "- The BEST guaranteed miracle light cures dark mornings for everybody, everywhere!!\n"

    answer = await call_tool({"copy.md": "## Google Ads headlines\n\n" + line * 300})

    assert "the first 30 of 300 texts were checked" in answer["failures"][0]
    assert "of 30 texts are not shown" in answer["gaps"][0]


async def list_prices(**files: str) -> dict[str, Any]:
    materials = {name.replace("_", "."): content for name, content in files.items()}
    answer: dict[str, Any] = await price_points.ainvoke({"materials": materials})
    return answer


async def test_prices_are_listed_with_the_sentence_they_stand_in():
    text = (
        "The Glimt costs 29.95 EUR. It is blue.\n\nVega: \u20ac1,200.50. All sell for $4 million."
    )

    answer = await list_prices(notes_md=text)

    assert "2 amounts in EUR, from 29.95 to 1,200.50." in answer["summary"]
    assert [claim["quotation"] for claim in answer["claims"]] == [
        "The Glimt costs 29.95 EUR.",
        "Vega: \u20ac1,200.50.",
    ]
    assert all(claim["quotation"] in text for claim in answer["claims"])


async def test_ones_own_drafts_are_no_evidence_of_the_market():
    answer = await list_prices(copy_md="## SMS\n\nOnly 9 EUR. STOP\n", empty_md="nothing")

    assert answer["claims"] == []
    assert answer["gaps"] == ["No text among the files names an amount of money."]
