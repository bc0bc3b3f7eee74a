"""Masking: nothing plain is left, equal stays equal, twice is once, offsets stay right."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.answers import GeneratedAnswer
from workers.masking.masks import MASK, Masker, reveal
from workers.masking.personal_data import KINDS, MaskRules

RULES = MaskRules(mask=KINDS, patterns={"badge": r"B-[0-9]{4,6}"}, phone_regions=("DE",))
SECRETS = {
    "mail": "jane@example.org",
    "iban": "DE89370400440532013000",
    "card": "4111111111111111",
    "phone": "+49 30 901820",
    "ip": "10.20.30.40",
    "key": "sk-proj-Ab1Cd2Ef3Gh4Ij5Kl6Mn",
    "badge": "B-12345",
}
WORDS = st.sampled_from(
    [*SECRETS.values(), "the", "Mail", "{", "}", "47", "[1]", "é", "\U0001f600", "B-", "0", ":", "{mail:"]
)
TEXTS = st.lists(WORDS, max_size=12).flatmap(
    lambda words: st.sampled_from([" ", "", ", ", "\n", "-"]).map(lambda between: between.join(words))
)


def masker(tenant: str = "acme", rules: MaskRules = RULES, key: bytes = b"k" * 32) -> Masker:
    return Masker(tenant, rules, key)


@given(TEXTS)
@settings(max_examples=300)
def test_masked_twice_is_masked_once(text: str) -> None:
    once = masker().text(text).text
    assert masker().text(once).text == once
    assert masker().text(once).edits == ()


@given(st.text(max_size=30), st.sampled_from(sorted(SECRETS)), st.text(max_size=30))
def test_no_value_is_left_between_words(before: str, kind: str, after: str) -> None:
    value = SECRETS[kind]
    assert value not in masker().text(f"{before} {value} {after}").text


@given(TEXTS, st.data())
def test_what_is_kept_stands_where_offsets_say(text: str, data: st.DataObject) -> None:
    masked = masker().text(text)
    end = 0
    for edit in masked.edits:
        kept = text[end : edit.start]
        assert masked.text[masked.moved(edit.start) - len(kept) : masked.moved(edit.start)] == kept
        assert masked.text[masked.moved(edit.start) :].startswith(edit.mask)
        end = edit.end
    assert masked.moved(len(text)) == len(masked.text)
    offsets = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    assert [masked.moved(offset) for offset in offsets] == sorted(masked.moved(offset) for offset in offsets)


@given(TEXTS)
def test_masks_have_no_figure_and_are_what_the_pattern_of_masks_finds(text: str) -> None:
    for edit in masker().text(text).edits:
        assert MASK.fullmatch(edit.mask)
        assert not any(character.isdigit() for character in edit.mask.partition(":")[2])


def test_equal_values_are_equal_within_a_tenant_and_nowhere_else() -> None:
    text = "Mail JANE@example.org"
    assert masker().text(text).text == masker().text("Mail jane@example.org").text
    others = [masker("other"), masker(key=b"x" * 32)]
    assert len({each.text(text).text for each in (masker(), *others)}) == 3


def test_a_digest_depends_on_the_key_as_written_down() -> None:
    """A change would part every value stored from those to come."""
    assert masker().text("jane@example.org").text == "{mail:vesrulsjot}"


@given(TEXTS)
def test_whoever_has_the_original_can_put_its_values_back(text: str) -> None:
    masked = masker().text(text).text
    if not MASK.search(text):
        assert reveal(masked, text, masker()) == text
    assert reveal("{mail:aaaaaaaaaa} unknown", text, masker()) == "{mail:aaaaaaaaaa} unknown"


def answer(**fields: Any) -> dict[str, Any]:
    return {"answer_id": "a-1", "answer": "Fine.", "completed_at": "2026-11-20T10:15:00Z"} | fields


def test_every_text_of_an_answer_is_masked_and_its_names_and_times_stay() -> None:
    mail = SECRETS["mail"]
    event = answer(
        answer_id="jane@example.org", tenant="acme", user_id=mail, query=mail, answer=mail, error=mail,
        requested_at="2026-11-20 10:15:00+01:00",
        contexts=[{"chunk_id": mail, "content": mail, "source_path": f"mailto:{mail}", "metadata": {mail: [mail]}}],
        metadata={"owner": {"mail": mail}, "card": 4111111111111111, "epoch": 1767225600000, "uuid": "12345678-1234-1234-1234-123456789012"},
        unknown_field=[{"x": mail}],
        citations=[{"cited_text": mail, "start": 0, "end": 5}],
    )  # fmt: skip
    masked = masker().event(event)
    GeneratedAnswer.from_bytes(json.dumps(masked).encode())
    assert masked.pop("answer_id") == "jane@example.org"
    assert mail not in json.dumps(masked)
    assert "4111111111111111" not in json.dumps(masked)
    for name in ("completed_at", "requested_at", "tenant"):
        assert masked[name] == event[name]
    assert masked["metadata"]["epoch"] == 1767225600000
    assert masked["metadata"]["uuid"] == event["metadata"]["uuid"]


def test_a_citation_that_came_with_the_answer_still_names_its_passage() -> None:
    text = f"Ask {SECRETS['mail']} or pay 47 EUR."
    start = text.index("47 EUR")
    masked = masker().event(answer(answer=text, citations=[{"number": 1, "start": start, "end": start + 6}, "odd"]))
    citation = masked["citations"][0]
    assert masked["answer"][citation["start"] : citation["end"]] == "47 EUR"


def test_a_record_as_text_stays_a_record_and_hides_nothing_behind_an_escape() -> None:
    content = '{"card": 4111111111111111, "mail": "jane\\u0040example.org", "amount": 47}'
    masked = masker().event(answer(contexts=[{"chunk_id": "c", "content": content}]))
    record = json.loads(masked["contexts"][0]["content"])
    assert record["amount"] == 47
    assert MASK.fullmatch(record["card"])
    assert MASK.fullmatch(record["mail"])


def test_a_record_as_text_without_personal_data_stays_as_it_is_to_the_letter() -> None:
    content = '{ "amount":47 , "note" : "fine" }'
    assert masker().event(answer(contexts=[{"content": content}]))["contexts"][0]["content"] == content


@pytest.mark.parametrize("kind", sorted(SECRETS))
def test_what_was_masked_is_counted_by_kind(kind: str) -> None:
    each = masker()
    each.event(answer(answer=f"See {SECRETS[kind]}.", query="none"))
    assert each.counts == {kind: 1}


CARD, MAIL = SECRETS["card"], SECRETS["mail"]


def content(text: str) -> str:
    """Return the masked text of a source."""
    return str(masker().event(answer(contexts=[{"chunk_id": "c", "content": text}]))["contexts"][0]["content"])


@pytest.mark.parametrize(
    "text",
    [
        f'{{ "price" : 1.10, "big": {"9" * 30},\n\t"of":"{MAIL}" , "empty": [ ], "e": 1E+2 }}',
        f'[1.10, "{MAIL}", "\\u00e9 \\/ \\n{MAIL}", {{"a": null, "a": 1.50}}]',
        f'{{"nested": "{{\\"mail\\": \\"{MAIL}\\", \\"price\\": 1.10}}", "line": "a\\nb {MAIL}"}}',
        f'{{"card": {CARD}, "price": 1.10, "more": [-0.0, {CARD}]}}',
        f'{{"password": "hunter2hunter2", "card": {CARD}, "price": 1.10}}',
        f'{{"escaped": "jane\\u0040example.org", "password": "hunter2hunter2", "smile": "\\ud83d\\ude00 {MAIL}"}}',
    ],
)
def test_a_record_as_text_stays_as_it_is_to_the_letter_beside_masks(text: str) -> None:
    masked = content(text)
    json.loads(masked)
    assert not any(secret in masked for secret in (MAIL, CARD, "u0040", "hunter2"))
    gaps = re.split(r'"?\{[a-z]+:[a-z]{10}\}"?', masked)
    place = 0
    for gap in gaps:
        place = text.index(gap, place) + len(gap)
    assert content(masked) == masked


def test_times_and_identifiers_of_a_record_as_text_stay() -> None:
    text = f'{{"id": "3bcf288e-6c7d-4d76-b048-23229db14e7d", "at": "2026-11-20T10:15:00Z", "by": "{MAIL}"}}'
    assert content(text) == text.replace(MAIL, masker().text(MAIL).text)


def test_an_own_pattern_that_spans_values_of_a_record_masks_them_all() -> None:
    rules = MaskRules(patterns={"pair": r"B-[0-9]+\", \"C-[0-9]+"})
    assert "C-2" not in masker(rules=rules).content('["B-1", "C-2", "\\u0041"]').text


@given(st.recursive(
    st.one_of(WORDS, st.integers(), st.floats(allow_nan=False), st.text(max_size=5), st.sampled_from([int(CARD), None])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4), max_leaves=10,
), st.booleans())  # fmt: skip
@settings(max_examples=300)
def test_every_record_as_text_stays_readable_and_holds_no_value(value: Any, ascii_only: bool) -> None:
    text = json.dumps([value], ensure_ascii=ascii_only)
    masked = masker().content(text)
    assert len(json.loads(masked.text)) == 1
    assert not any(secret in masked.text for kind, secret in SECRETS.items() if kind != "phone")
    assert masker().content(masked.text).text == masked.text
    assert masked.moved(len(text)) == len(masked.text)


def test_citations_of_an_answer_that_is_a_record_name_their_passages() -> None:
    text = f'{{"card": {CARD}, "by": "x\\n{MAIL}", "note": "47 EUR [1]"}}'
    start = text.index("47 EUR")
    masked = masker().event(answer(answer=text, citations=[{"number": 1, "start": start, "end": start + 6}]))
    citation = masked["citations"][0]
    assert masked["answer"][citation["start"] : citation["end"]] == "47 EUR"
    assert json.loads(reveal(masked["answer"], text, masker())) == json.loads(text.replace(CARD, f'"{CARD}"'))


def test_values_whose_names_have_one_mask_are_all_kept() -> None:
    names = [MAIL, MAIL.upper(), masker().text(MAIL).text, f"{masker().text(MAIL).text} 2"]
    masked = masker().event(answer(metadata={name: number for number, name in enumerate(names)}))
    assert sorted(masked["metadata"].values()) == [0, 1, 2, 3]
    assert masker().event(masked) == masked
