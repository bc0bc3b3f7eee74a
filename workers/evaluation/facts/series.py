"""Find members of series and other identifiers: "Grinder 5", "INC-4711", "plan A", "port 8080"."""

import re

from workers.evaluation.facts.units import UNITS
from workers.evaluation.text.words import STOP_WORDS, word_set

Code = tuple[str, str]
"""Series and number or letter, lower case."""

_CODE = re.compile(
    r"(?<![\w-])((?:[A-Z][^\W\d_]{0,9}-(?=[A-Z]))?[^\W\d_]{1,20})[-_ #]{0,2}(\d{1,12})(?!\w|[.,:∶]\d|\s?[%€$£])"
)
_VERSION = re.compile(
    r"(?:(?:バージョン|版本|버전)\s?|(?<![\w-])(?:(?:v|version|versi[oó]n|versão|versie|versione|wersj[aięą]|верси[яиюей]{1,2}|release|Python|Java|Node(?:\.js)?|PHP|Ruby|Go|Rust|Perl|Swift|Kotlin|TypeScript|iOS|iPadOS|Android|macOS|Windows|Ubuntu|Debian|Kernel|Linux"
    r"|Kubernetes|Docker|Helm|Kafka|Redis|Postgres(?:QL)?|MySQL|MariaDB|MongoDB|Django|Rails|Spring|Angular|React|Vue|TLS|USB|HTTP|Bluetooth|CUDA|GCC|Chrome|Firefox"
    r"|PyTorch|TensorFlow|GPT|Claude|Llama)[ -]?|(?=\d+\.\d+\.\d)))(\d{1,4}(?:\.\d{1,4}){1,3})(?![a-zA-Z\d_%]|[.,:]\d|\s?[%€$£])",
    re.IGNORECASE,
)
"""A dotted number of a version or an address, in which 3.10 is not 3.1."""
_GROUPED = re.compile(r"\d{1,3}(?:\.\d{3})+")
_LETTER = re.compile(r"(?<![\w-])([^\W\d_]{3,20}) ([A-HJ-Z])(?![\w'’&-]|\.\w)")
NOT_SERIES = word_set(
    """
    in on at by of to for from with about around over under than and or is was are were the a an version
    page step chapter section figure table top last next first past within after before until since
    approximately only just up january february march april may june july august september october november
    december passage source document context text note item at least most exactly nearly almost ph
    """
)
"""Words before a number that do not name a series."""
COMMON_WORDS = NOT_SERIES | STOP_WORDS
"""Words that do not name a series, capitalised or not."""
SERIES_NAMES = word_set(
    """
    port line room gate lane track platform bay zone rack slot pin floor route channel station ticket incident order
    invoice plan release model building machine pump valve press grinder server node unit filter tank robot cell boiler
    shift batch lot bus flight train motor sensor oven pod cluster shard worker reactor turbine conveyor clause article paragraph
    """
)
"""Words that name a series in lower case as well."""
_ALSO_UNITS = word_set("an second day week month year")
"""Words that are units and stand behind names as well: "Grinder 5 day shift"."""


def find_codes(text: str) -> list[tuple[Code, int, int]]:
    """Return the identifiers of a text with their offsets, in order.

    A word before a number names a series if it has a capital, if letters and digits are written as one, if it
    is written so elsewhere in the text, or if it is a common series name. In "sold 5" it is none of these.
    """
    matches = [
        match
        for match in _CODE.finditer(text)
        if match[1].lower().rpartition("-")[2] not in NOT_SERIES
        and (_is_written_as_one(match) or _stands_alone(match, text))
    ]
    strict = {match[1].lower() for match in matches if _is_strict(match)}
    found = [
        ((match[1].lower(), match[2].lstrip("0") or "0"), match.start(), match.end())
        for match in matches
        if _is_strict(match) or match[1].lower() in strict or match[1].lower() in SERIES_NAMES
    ]
    found += [
        ((match[1].lower(), match[2].lower()), match.start(), match.end())
        for match in _LETTER.finditer(text)
        if match[1].lower() not in COMMON_WORDS and match[1].lower() not in UNITS
    ]
    found += [
        (("version", match[1]), match.start(1), match.end(1))
        for match in _VERSION.finditer(text)
        if not _GROUPED.fullmatch(match[1])
    ]
    return sorted(found, key=lambda code: code[1])


def _is_strict(match: re.Match[str]) -> bool:
    # A capital within the word counts too: "iPhone 15".
    return match[1] != match[1].lower() or _is_written_as_one(match)


def _is_written_as_one(match: re.Match[str]) -> bool:
    between = match[0][len(match[1]) : -len(match[2])]  # the hyphen of "Wi-Fi 6" belongs to its name
    return "-" in between or "_" in between or not between


def _stands_alone(match: re.Match[str], text: str) -> bool:
    """Return true if the number does not belong to a unit after it: "order 5 kg", "die Fahrt 65 Euro".

    Words that are units and others are none after a name with a capital: "Bus 7 an hour late", "Gate 12 B".
    """
    behind = re.match(r"[\s-]{0,2}([^\W\d_]{1,15})", text[match.end() : match.end() + 20])
    if not behind or behind[1].lower() not in UNITS:
        return True
    is_other = behind[1].lower() in _ALSO_UNITS or (len(behind[1]) == 1 and behind[1].isupper())
    return is_other and match[1] != match[1].lower()
