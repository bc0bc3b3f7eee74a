"""Find personal data and secrets in a text: position, kind and normalised value.

Only data with a recognisable form is found, mostly with a check: cards by issuer and Luhn's digit (ISO/IEC 7812-1),
IBANs by country and checksum (ISO 13616, ``python-stdnum``), phone numbers by the plans of their countries
(``phonenumbers``, a port of Google's libphonenumber). Names and addresses of people have no fixed form and are not
found. Patterns are RE2, so the time is linear in the length of any text.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address
from itertools import accumulate
from string import ascii_uppercase
from typing import Annotated, Any, Literal
from unicodedata import normalize

import phonenumbers
from pydantic import BaseModel, ConfigDict, Field, model_validator
from stdnum import iban, luhn

from workers.evaluation.text.pattern_packs import compile_pattern

Kind = Literal["key", "mail", "iban", "card", "phone", "ip"]
KINDS: tuple[Kind, ...] = ("key", "mail", "iban", "card", "phone", "ip")
"""Kinds in the order of the search; a value that is found is not part of a later one."""

MAX_PATTERNS, MAX_PATTERN = 50, 500
"""Maximum number of custom patterns of a tenant, and maximum length of one in code points; RE2 limits their cost."""

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,19}$")]


class MaskRules(BaseModel):
    """Hold the masking rules of a tenant."""

    model_config = ConfigDict(extra="forbid")

    mask: tuple[Kind, ...] = Field(
        default=(), description="Kinds to mask, as JSON: key (keys, tokens, passwords), mail, iban, card, phone, ip."
    )
    patterns: dict[Name, Annotated[str, Field(min_length=1, max_length=MAX_PATTERN)]] = Field(
        default_factory=dict,
        max_length=MAX_PATTERNS,
        description="Custom RE2 patterns by the name that the mask contains.",
    )
    phone_regions: tuple[Annotated[str, Field(pattern=r"^[A-Z]{2}$")], ...] = Field(
        default=(),
        max_length=10,
        description="Countries whose phone numbers are found without their country code, such as DE; others need "
        "+49 or similar.",
    )

    @model_validator(mode="after")
    def _compiles(self) -> "MaskRules":
        if taken := sorted(set(self.patterns) & set(KINDS)):
            raise ValueError(f"{taken[0]} is a built-in kind; rename the pattern")
        assert self.detectors is not None
        return self

    @cached_property
    def detectors(self) -> tuple[tuple[str, "Detector"], ...]:
        """Return kinds and detectors in order; custom patterns come first."""
        own = [
            (name, _of_pattern(compile_pattern(pattern, f"patterns.{name}", max_length=MAX_PATTERN)))
            for name, pattern in self.patterns.items()
        ]
        built_in: Mapping[Kind, Detector] = {
            "key": _keys,
            "mail": _mails,
            "iban": _ibans,
            "card": _cards,
            "phone": _phones(self.phone_regions),
            "ip": _ips,
        }
        return (*own, *((kind, built_in[kind]) for kind in KINDS if kind in self.mask))


@dataclass(frozen=True, slots=True)
class Found:
    """Describe a value found in a text.

    Attributes:
        start: offset in code points.
        end: exclusive.
        value: normalised value, such as a phone number in the E.164 format.
    """

    start: int
    end: int
    value: str


Detector = Callable[[str], Iterator[Found]]
"""Detector that yields the values of one kind in a text, from left to right and without overlap."""


def _of_pattern(pattern: Any) -> Detector:
    def find(text: str) -> Iterator[Found]:
        for match in pattern.finditer(text):
            if match.end() > match.start():
                yield Found(match.start(), match.end(), match.group())

    return find


_MAIL = compile_pattern(
    # With combining marks (M), for addresses whose accents are characters of their own.
    r"[\pL\pM\pN._%+\-']*[\pL\pM\pN_+\-](?:@|%40)(?:[\pL\pN](?:[\pL\pM\pN\-]*[\pL\pM\pN])?\.)+\pL\pM*(?:\pL\pM*){1,23}",
    "mail",
)


def _mails(text: str) -> Iterator[Found]:
    if "@" in text or "%40" in text:
        for match in _MAIL.finditer(text):
            yield Found(match.start(), match.end(), normalize("NFC", match.group().replace("%40", "@")).lower())


_SPACES = dict.fromkeys((0xA0, 0x2007, 0x2009, 0x202F), " ")
_SEPARATORS = _SPACES | dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2212), "-")
"""No-break and narrow spaces, and dashes, that group figures as a space or a hyphen does."""

_IBAN_START = compile_pattern(r"\b[A-Za-z]{2}[0-9]{2}", "iban start")
_IBAN = compile_pattern(r"[A-Za-z]{2}[0-9]{2}(?:[ \-]?[A-Za-z0-9]){11,30}\b", "iban")
_SHORTEST_IBAN, _LONGEST_IBAN = 15, 65
"""Lengths in characters; the longest with separators and the character behind it."""
_IBAN_FIGURES = {ord(letter): str(int(letter, 36)) for letter in ascii_uppercase} | dict.fromkeys(map(ord, " -"))


def _ibans(text: str) -> Iterator[Found]:
    end, text = 0, text.translate(_SEPARATORS)
    for start in _IBAN_START.finditer(text):
        # A candidate begins at every possible place, because a word before an IBAN may look like its beginning.
        if start.start() < end or not (match := _IBAN.match(text[start.start() : start.start() + _LONGEST_IBAN])):
            continue
        # The following words look the same; the country determines the length.
        candidate = match.group()
        for length in range(len(candidate), _SHORTEST_IBAN - 1, -1):
            ends = length == len(candidate) or not candidate[length].isalnum()
            if ends and candidate[length - 1].isalnum() and _is_iban(candidate[:length]):
                end = start.start() + length
                yield Found(start.start(), end, iban.compact(candidate[:length]))
                break


def _is_iban(text: str) -> bool:
    # The sum is checked first, because the check of the country's format takes a hundred times as long.
    figures = text.upper().translate(_IBAN_FIGURES)
    return int(figures[6:] + figures[:6]) % 97 == 1 and bool(iban.is_valid(text, check_country=False))


_DIGITS = compile_pattern(r"\b[0-9](?:[ \-]?[0-9]){11,}\b", "digits")
_GROUP = compile_pattern(r"[0-9]+", "group")
_CARD_GROUPS = compile_pattern(
    r"[0-9]{12,19}|(?:[0-9]{4}[ \-]){3}[0-9]{4}(?:[ \-][0-9]{3})?|[0-9]{4}[ \-][0-9]{6}[ \-][0-9]{4,5}", "card"
)
"""The formats in which cards are printed, and one block of digits; other numbers may precede and follow."""
_ISSUERS = compile_pattern(
    # Visa, Mastercard, American Express, Diners, Discover, JCB, UnionPay, Maestro: first digits and length.
    r"4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})"
    r"|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}"
    r"|3[47][0-9]{13}|3(?:0[0-5]|[689][0-9])[0-9]{11}"
    r"|6(?:011|5[0-9]{2}|4[4-9][0-9])[0-9]{12}|35(?:2[89]|[3-8][0-9])[0-9]{12}|62[0-9]{14,17}"
    r"|(?:50|5[6-9]|6[0-9])[0-9]{10,17}",
    "issuers",
)


def _cards(text: str) -> Iterator[Found]:
    text = text.translate(_SEPARATORS)
    for run in _DIGITS.finditer(text):
        digits = run.group()
        if _is_card(digits):
            yield Found(run.start(), run.end(), _compact(digits))
            continue
        groups, end = list(_GROUP.finditer(digits)), 0
        for place, first in enumerate(groups):
            # 19 digits in groups of four are five groups.
            for until in range(min(place + 5, len(groups)), place, -1):
                part = digits[first.start() : groups[until - 1].end()]
                beside = [
                    len(each.group()) for each in (*groups[max(0, place - 1) : place], *groups[until : until + 1])
                ]
                # Four groups of four digits among other groups of four digits are a row of a table.
                apart = until == place + 1 or 4 not in beside
                if first.start() >= end and apart and _CARD_GROUPS.fullmatch(part) and _is_card(part):
                    end = groups[until - 1].end()
                    yield Found(run.start() + first.start(), run.start() + end, _compact(part))


def _compact(digits: str) -> str:
    return digits.replace(" ", "").replace("-", "")


def _is_card(digits: str) -> bool:
    compact = _compact(digits[:40])
    return len(digits) <= 40 and bool(_ISSUERS.fullmatch(compact)) and luhn.is_valid(compact)


_PHONE_LIKE = compile_pattern(
    r"[+\x{ff0b}(\-]*\p{Nd}[\p{Nd}().\-/\x{2010}-\x{2013} \x{a0}\x{2007}\x{2009}\x{202f}]{5,}\p{Nd}", "phone"
)

_DATE = compile_pattern(
    r"(?:19|20)[0-9]{2}[-/.][0-9]{2}|[0-9]{2}[-/.][0-9]{2}[-/.](?:19|20)[0-9]{2}|[0-9]{2}[-/.][0-9]{2} [0-9]{2}", "date"
)


def _phones(regions: tuple[str, ...]) -> Detector:
    def find(text: str) -> Iterator[Found]:
        for run in _PHONE_LIKE.finditer(text):
            end = 0
            for number in _numbers(run.group().translate(_SPACES), regions):
                if number.start >= end:
                    end = number.end
                    value = phonenumbers.format_number(number.number, phonenumbers.PhoneNumberFormat.E164)
                    # An open bracket belongs to the sentence.
                    start = number.start + (number.raw_string.count("(") > number.raw_string.count(")"))
                    yield Found(run.start() + start, run.start() + end, value)

    return find


def _numbers(run: str, regions: tuple[str, ...]) -> list[phonenumbers.PhoneNumberMatch]:
    """Find numbers with a country code, then national ones; keep the longest of overlapping numbers."""
    worldwide = (None,) if "+" in run or "\uff0b" in run else ()
    found = [
        number
        for region in (*worldwide, *regions)
        for number in phonenumbers.PhoneNumberMatcher(run, region, leniency=phonenumbers.Leniency.VALID)
        if region is None or not _is_other(run, number)
    ]
    return sorted(found, key=lambda number: (number.start, -number.end))


def _is_other(run: str, number: phonenumbers.PhoneNumberMatch) -> bool:
    """Return true if a possible national number is a date, a figure (ten digits in a row) or part of a name."""
    raw = number.raw_string
    figure = raw.isdigit() and raw[0] != "0"
    return figure or _DATE.match(raw) is not None or run[: number.start].endswith("-")


_IP4 = compile_pattern(r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b", "ip")
_IP6_RUN = compile_pattern(r"(?:[0-9A-Fa-f]*:){2,}[0-9A-Fa-f]*(?:(?:\.[0-9]{1,3}){3}\b)?", "ip run")
_FIRST_GROUP, _MOST_GROUPS = 4, 9


def _ips(text: str) -> Iterator[Found]:
    found = [each for run in _IP6_RUN.finditer(text) for each in _ip6s(text, run.start(), run.end())]
    taken = {place for each in found for place in range(each.start, each.end)}
    others = (match for match in _IP4.finditer(text) if match.start() not in taken)
    found += [Found(each.start(), each.end(), value) for each in others if (value := _address(each.group()))]
    yield from sorted(found, key=lambda each: each.start)


def _ip6s(text: str, start: int, end: int) -> Iterator[Found]:
    """Find addresses in a run of groups and colons; a label or a port with its colon may stand beside an address."""
    groups = text[start:end].split(":")
    starts = [start + at for at in accumulate((len(group) + 1 for group in groups), initial=0)]
    if groups[-1].isalnum() and text[end : end + 1].isalnum():
        groups[-1] = "-"  # the beginning of a word
    after = 0
    for first, group in enumerate(groups):
        # Two colons before or behind part the names of a program.
        if first < after or (first > 1 and not groups[first - 1]):
            continue
        for until in range(min(first + _MOST_GROUPS, len(groups)), first + 2, -1):
            parts = [group[-_FIRST_GROUP:], *groups[first + 1 : until]]
            # Addresses in use begin with four figures (2000::/3, fc00::/7, fe80::/10); "a::b" is a name in a program.
            in_use = len(parts[0]) == _FIRST_GROUP or "." in parts[-1]
            apart = until >= len(groups) - 1 or groups[until] != ""
            if in_use and apart and (value := _address(":".join(parts))):
                after = until
                yield Found(starts[first] + len(group) - len(parts[0]), starts[until] - 1, value)
                break


def _address(text: str) -> str | None:
    try:
        return ip_address(text).compressed
    except ValueError:
        return None


_KEY = compile_pattern(
    # Prefixes that vendors chose so that their keys can be found: OpenAI and others, Stripe, GitHub, GitLab, Slack,
    # AWS, Google, Hugging Face, npm, PyPI, SendGrid; JSON Web Tokens; PEM.
    r"\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{16,}"
    r"|\bgh[opsur]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_\-]{16,}"
    r"|\bxox[abeoprs]-[A-Za-z0-9\-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_\-]{30,}|\bya29\.[A-Za-z0-9_\-]{20,}"
    r"|\bhf_[A-Za-z0-9]{20,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_\-]{40,}|\bSG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}"
    r"|\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=\s\\:,\-]+?-----END [A-Z ]*PRIVATE KEY-----|[A-Za-z0-9+/=\s\\]+)",
    "key",
    max_length=2_000,
)
_NAME = compile_pattern(
    r"(?i)\bbearer\s|(?:api[ _\-]?key|access[ _\-]?key|secret|token|passwo?r?d|pwd|credential|authorization)"
    r"[a-z_\-]*[\"'`]?\s{0,3}(?:[:=]|=>|\bis\b)\s{0,3}(?:(?:bearer|basic|token) )?[\"'`]?",
    "name",
)
_SECRET = compile_pattern(
    # Letters of scripts with capitals: others write whole sentences without a space.
    r"[\p{Lu}\p{Ll}\pM0-9_\-./+=~!@#$%^&*]{8,}",
    "secret",
)
_SHORTEST, _EXAMINED = 8, 500
"""Minimum length of a secret, and number of characters that are examined, so that the time is linear."""
_IN_ADDRESS = compile_pattern(r"://[^\s/:@]*:[^\s/@]{3,}@", "address")
LEAST_ENTROPY = 2.5
"""Minimum entropy in bits per character of a value that is named as a secret: "hunter2hunter2" has 2.8, "version1111"
2.7, "aaaa1111" 1. It must also have letters and digits, so that plain words are not masked.
"""


def _keys(text: str) -> Iterator[Found]:
    found = [Found(match.start(), match.end(), match.group()) for match in _KEY.finditer(text)]
    runs = ((each.start(), each.start() + len(each.group().rstrip(".!"))) for each in _SECRET.finditer(text))
    begin, end, taken = 0, 0, 0
    for start in (name.end() for name in _NAME.finditer(text)):
        while start >= end and (run := next(runs, None)):
            begin, end = run
        if max(begin, taken) <= start <= end - _SHORTEST and _is_random(text[start : min(end, start + _EXAMINED)]):
            taken = end
            found.append(Found(start, end, text[start:end]))
    if "://" in text:
        for match in _IN_ADDRESS.finditer(text):
            secret = match.group().split(":", 2)[2][:-1]
            found.append(Found(match.end() - 1 - len(secret), match.end() - 1, secret))
    end = 0
    for each in sorted(found, key=lambda each: (each.start, -each.end)):
        if each.start >= end:
            end = each.end
            yield each


def _is_random(text: str) -> bool:
    """Return true if a word looks random: letters and digits with high entropy per character."""
    if not (any(c.isdigit() for c in text) and any(c.isalpha() for c in text)):
        return False
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares) >= LEAST_ENTROPY
