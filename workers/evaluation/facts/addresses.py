"""Find addresses and names of files, hosts, options and code, which are right only letter by letter.

Words of an address tell little: "support@example.com" has all but one word of "service@example.com".
"""

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple, cast, get_args

from workers.evaluation.text.words import kept_for_sentences

Form = Literal["mail", "path", "file", "host", "option", "code"]
"""Form of an address."""
FORMS: frozenset[str] = frozenset(get_args(Form))
"""All forms."""

MAX_ADDRESSES = 20
"""Most addresses of a claim that are looked up; each is searched for in all evidence."""

_EXTENSIONS = (
    "pdf|docx?|xlsx?|pptx?|odt|csv|tsv|txt|md|rst|jsonl?|ya?ml|xml|html?|toml|ini|cfg|conf|env|log|sql|db|sqlite|parquet"
    "|py|ipynb|js|mjs|tsx?|jsx|sh|bat|ps1|java|go|rs|rb|php|css|cpp|cs|kt|swift|zip|tar|gz|tgz|bz2|xz|7z|rar|iso|exe|msi"
    "|dmg|apk|deb|rpm|jar|whl|png|jpe?g|gif|svg|webp|mp[34]|mov|wav|pem|crt|cer|key|pub|bak|lock|tmp|dll|so|bin"
)
_DOMAINS = "com|org|net|io|edu|gov|info|biz|dev|app|ai|cloud|local|internal|lan|eu|uk|de|at|ch|fr|es|it|nl|be|pl|pt|se|dk|fi|cz|ie|us|ca|jp|cn|ru|br|au"
_PATTERN = re.compile(
    r"(?P<mail>(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5})"
    r"|(?P<path>(?<![\w/.:~<-])(?:[A-Za-z]:\\(?:[\w.-]{1,80}\\){0,12}|(?:~|\.{1,2})?/(?:[\w.@-]{1,80}/){1,12})[\w.*-]{0,80}\w)"
    rf"|(?P<file>(?<![\w./@:\\-])(?![A-Z][a-z]+\.(?:js|io|ai)\b)\w[\w-]{{0,60}}(?:\.[\w-]{{1,30}}){{0,3}}\.(?i:{_EXTENSIONS})(?![\w@/]|\.\w))"
    rf"|(?P<host>(?<![\w./@-])[a-z\d][a-z\d-]{{0,62}}(?:\.[a-z\d-]{{1,63}}){{0,4}}\.(?:{_DOMAINS})(?![\w@-]|\.\w))"
    r"|(?P<option>(?<![\w-])--[a-z][\w-]{1,40})"
    r"|(?P<code>(?<![\w./@-])[A-Za-z]\w{0,60}\(\)|(?<![\w./@-])(?!(?:your|my|example)_)[A-Za-z][A-Za-z\d]*(?:_[A-Za-z\d]+)+(?![\w@-]|\.\w))",
)
_MARKS = re.compile(r"[@./\\_-]|\(\)")
_JOINTS = re.compile(r"[_-]")


class Address(NamedTuple):
    """Hold an address.

    Attributes:
        form: what it is.
        text: the address in lower case.
    """

    form: Form
    text: str


@kept_for_sentences
def read_addresses(text: str) -> frozenset[Address]:
    """Return the addresses of a text, at most ``MAX_ADDRESSES``."""
    if not _MARKS.search(text):
        return frozenset()
    found: dict[Address, None] = {}
    for match in _PATTERN.finditer(text):
        form = cast(Form, match.lastgroup)  # each alternative of the pattern is a group
        found[Address(form, match[0].lower().rstrip(".").removesuffix("()"))] = None
        if len(found) == MAX_ADDRESSES:
            break
    return frozenset(found)


def without_addresses(text: str) -> str:
    """Return a text without its addresses."""
    return _PATTERN.sub(" ", text)


def is_other_address(address: Address, evidence: str, claim: str) -> bool:
    """Return true if evidence has another address of the form of an unknown one, which the claim does not have."""
    return any(other.form == address.form for other in read_addresses(evidence) - read_addresses(claim))


class KnownAddresses:
    """Look up addresses in texts.

    Args:
        texts: the texts.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = _spelled("\n".join(texts))

    def has(self, address: Address) -> bool:
        """Return true if a text has an address, alone or as a part of a longer one, or with spaces for "_" and "-"."""
        spelled = _spelled(address.text)
        border = r"\b" if spelled[0].isalnum() else ""
        return bool(re.search(rf"{border}{re.escape(spelled)}(?!\w)", self._text))


def _spelled(text: str) -> str:
    return _JOINTS.sub(" ", text.lower())
