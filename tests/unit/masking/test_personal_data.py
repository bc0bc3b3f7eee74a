"""Personal data and secrets: found in the ways in which they are written, and nothing else taken for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from stdnum import luhn

from workers.masking.personal_data import KINDS, MaskRules

EVERYTHING = MaskRules(mask=KINDS, phone_regions=("DE", "US"))


def found(text: str, rules: MaskRules = EVERYTHING) -> list[tuple[str, str]]:
    """Kind and passage of everything that is found, by each detector alone."""
    return [(kind, text[each.start : each.end]) for kind, find in rules.detectors for each in find(text)]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("mail", "jane.doe+news@mail.example.co.uk"),
        ("mail", "jürgen@müller.example"),
        ("mail", "jane%40example.org"),
        ("mail", "o'neill@example.org"),
        ("iban", "DE89 3704 0044 0532 0130 00"),
        ("iban", "GB29NWBK60161331926819"),
        ("iban", "NO9386011117947"),
        ("card", "4111 1111 1111 1111"),
        ("card", "5500-0055-5555-5559"),
        ("card", "378282246310005"),
        ("phone", "+49 30 901820"),
        ("phone", "+1 (415) 555-2671"),
        ("phone", "030/12345678"),
        ("phone", "(415) 555-2671"),
        ("ip", "192.168.2.17"),
        ("ip", "2001:db8::8a2e:370:7334"),
        ("key", "sk-proj-Ab1Cd2Ef3Gh4Ij5Kl6Mn"),
        ("key", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
        ("key", "AKIAIOSFODNN7EXAMPLE"),
        ("key", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVPmB92K27uhbUJU1p1r"),
        ("mail", "ju\u0308rgen@mu\u0308ller.example"),
        ("mail", "jane@exa\u0301mple.org"),
        ("iban", "DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000"),
        ("iban", "GB29\u202fNWBK\u202f6016\u202f1331\u202f9268\u202f19"),
        ("iban", "DE89-3704-0044-0532-0130-00"),
        ("card", "4111\u00a01111\u00a01111\u00a01111"),
        ("card", "4111\u202f1111\u202f1111\u202f1111"),
        ("card", "4111\u20111111\u20111111\u20111111"),
        ("phone", "+49\u202f30\u202f901820"),
        ("ip", "fe80::1ff:fe23:4567:890a"),
        ("ip", "::ffff:10.20.30.40"),
        ("key", "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\n-----END RSA PRIVATE KEY-----"),
    ],
)
def test_each_kind_is_found_whole_wherever_it_stands(kind: str, value: str) -> None:
    for text in (value, f"Ask {value}, please.", f"({value})", f'{{"a": "{value}"}}', f"| {value} |"):
        assert (kind, value) in found(text), text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("api_key=abcd1234efgh5678", "abcd1234efgh5678"),
        ('{"password": "hunter2hunter2"}', "hunter2hunter2"),
        ("Authorization: Bearer 9f8e7d6c5b4a3210", "9f8e7d6c5b4a3210"),
        ("the token is q1w2e3r4t5y6.", "q1w2e3r4t5y6"),
        ("postgres://app:s3cr3t!@db.example.org/x", "s3cr3t!"),
        ("redis://:s3cr3t!@db.example.org/x", "s3cr3t!"),
        (f"https://a:{'a1b2' * 100}@example.org", "a1b2" * 100),
        (f"https://{'a' * 200}:s3cr3t@example.org", "s3cr3t"),
        ("password=pässwörd1234 for all", "pässwörd1234"),
        ("password: па1роль2секрет", "па1роль2секрет"),
        ("password: passwo\u0308rd1234", "passwo\u0308rd1234"),
        (f"token: {'a1b2c3d4' * 100} and more", "a1b2c3d4" * 100),
        (f"secret {'secret ' * 50} token=abcd1234efgh5678", "abcd1234efgh5678"),
        ("token=token=abcd1234efgh5678!", "token=abcd1234efgh5678"),
    ],
)
def test_a_secret_is_found_behind_the_word_that_names_it_and_the_word_stays(text: str, secret: str) -> None:
    assert ("key", secret) in found(text)


@pytest.mark.parametrize("address", ["2001:db8::1", "2001:db8:0:0:0:0:0:1", "fe80::1", "fd00::a:b"])
@pytest.mark.parametrize(
    "around",
    ["from {}: refused", "IP:{}", "add:{} ok", "12:30:45:{}", "{}: failed", "{}; {}", "[{}]:8080", "{}:", "{}."],
)
def test_an_address_is_found_beside_a_colon(address: str, around: str) -> None:
    text = around.format(address, address)
    assert found(text, MaskRules(mask=("ip",))) == [("ip", address)] * around.count("{}")


@pytest.mark.parametrize(
    "text",
    [
        "Order XY12 for DE89370400440532013000", "AB12 DE89 3704 0044 0532 0130 00", "AB12 CD34 DE89370400440532013000.",
        "DE89 DE89 3704 0044 0532 0130 00 and DE89", "Invoice RE20 26 11 DE89-3704-0044-0532-0130-00 is paid",
    ],
)  # fmt: skip
def test_an_iban_is_found_behind_a_word_that_looks_like_one(text: str) -> None:
    values = [each.value for _, find in MaskRules(mask=("iban",)).detectors for each in find(text)]
    assert values == ["DE89370400440532013000"]


@given(st.text(alphabet="AB12 DE89:-\u00a0", max_size=30), st.text(alphabet=" .,;)\n", min_size=1, max_size=3))
def test_an_iban_is_found_whatever_precedes_it(before: str, between: str) -> None:
    values = [
        each.value
        for _, find in MaskRules(mask=("iban",)).detectors
        for each in find(f"{before}{between}GB29 NWBK 6016 1331 9268 19")
    ]
    assert "GB29NWBK60161331926819" in values


@pytest.mark.parametrize(
    "text",
    [
        "Checkout was down for 47 minutes, from 14:06 UTC until 14:53 UTC on 2026-10-19 [1].",
        "Freeze from 2026-11-23 00:00 UTC to 2026-12-01 00:00 UTC for all.",
        "journal je-2026-10-3377, event se-2026-1103-02, order 30123456789",
        "Revenue grew from 1,234,567.89 to 2,345,678.90; 4155552671 rows.",
        "Versions 1.2.3 and 10.4; 12:30:45; ::; `a::b`",
        "The secret of the token: authentication. password: required. Basic understanding1 of it",
        "4111 1111 1111 1112 fails its check, DE89 3704 0044 0532 0130 01 as well.",
        "@mention and user@localhost, a @ b",
        "std::cafe::bead, dead::beef::cafe, 00:1a:2b:3c:4d:5e, 12:30:45:2001, 1234:5678:9abc",
        "The token is 有效期为30天请尽快使用",
        "[1] [mail:x] {phone:abcdefghij}",
    ],
)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert found(text) == []


def test_equal_values_are_equal_however_they_are_written() -> None:
    pairs = [
        ("phone", "+49 30 12345678", "030/12345678"),
        ("mail", "Jane@Example.ORG", "jane@example.org"),
        ("iban", "DE89 3704 0044 0532 0130 00", "de89370400440532013000"),
        ("card", "4111-1111-1111-1111", "4111111111111111"),
        ("ip", "2001:db8:0:0:0:0:0:1", "2001:db8::1"),
        ("mail", "ju\u0308rgen@example.org", "jürgen@example.org"),
        ("iban", "DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000", "DE89370400440532013000"),
        ("card", "4111\u00a01111\u00a01111\u00a01111", "4111111111111111"),
    ]
    detectors = dict(EVERYTHING.detectors)
    for kind, one, other in pairs:
        assert [each.value for each in detectors[kind](one)] == [each.value for each in detectors[kind](other)] != []


@pytest.mark.parametrize(
    "text",
    [
        "4111111111111111 0", "12 4111111111111111", "items 3 4111 1111 1111 1111 7 pieces", "0-4111-1111-1111-1111-0",
        "4111111111111111 5500005555555559", "378282246310005 2026", "47 3782 822463 10005 8",
    ],
)  # fmt: skip
def test_a_card_between_other_numbers_is_found(text: str) -> None:
    cards = MaskRules(mask=("card",))
    known = {"4111111111111111", "5500005555555559", "378282246310005"}
    compact = text.replace(" ", "").replace("-", "")
    shown = {value.replace(" ", "").replace("-", "") for _, value in found(text, cards)}
    assert shown == {card for card in known if card in compact}


def test_rows_of_numbers_are_no_cards() -> None:
    rows = "\n".join(" ".join(str(2_000 + 37 * row + 3 * column) for column in range(12)) for row in range(60))
    assert found(rows.replace("\n", " ; "), MaskRules(mask=("card",))) == []


@given(st.integers(min_value=10**14, max_value=10**15 - 1))
def test_every_card_of_an_issuer_with_a_right_digit_is_found_and_with_a_wrong_one_none(body: int) -> None:
    digits = "4" + str(body)[1:]
    number = digits + luhn.calc_check_digit(digits)
    wrong = digits + str((int(number[-1]) + 1) % 10)
    cards = MaskRules(mask=("card",))
    assert found(f"pay {number} now", cards) == [("card", number)]
    assert found(f"pay {wrong} now", cards) == []


def test_own_patterns_bear_their_name_and_come_first() -> None:
    rules = MaskRules(mask=("mail",), patterns={"badge": r"\bB-\d{6}\b", "staff": r"[a-z]+@staff\.example"})
    assert found("B-123456", rules) == [("badge", "B-123456")]
    assert found("eve@staff.example", rules)[0] == ("staff", "eve@staff.example")


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ({"patterns": {"badge": "("}}, "patterns.badge"),
        ({"patterns": {"badge": "a" * 501}}, "patterns.badge"),
        ({"patterns": {"a b": "x"}}, "patterns"),
        ({"patterns": {"mail": "x"}}, "mail is a built-in kind"),
        ({"patterns": {f"p{number}": "x" for number in range(51)}}, "patterns"),
        ({"mask": ["names"]}, "mask"),
        ({"phone_regions": ["Germany"]}, "phone_regions"),
    ],
)
def test_wrong_rules_are_refused_by_name(rules: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        MaskRules.model_validate(rules)


@pytest.mark.parametrize(
    "text",
    ["@" * 100_000, "0" * 100_000, "a@" * 50_000, "1 " * 20_000, "token " * 20_000, ":" * 50_000,
     "AB12 " * 20_000, "token=" * 20_000, "token=a1b2c3d4" * 8_000, "token: a1b2c3d4 " * 8_000, "fe80::" * 20_000,
     "1234:5678:" * 10_000, "!" * 50_000 + "token=!" * 10_000, "\u0301" * 50_000 + "@", "://a:" * 20_000],
)  # fmt: skip
def test_no_text_makes_it_slow(text: str) -> None:
    """Within the time limit of the test: quadratic work on these would take hours."""
    found(text)
