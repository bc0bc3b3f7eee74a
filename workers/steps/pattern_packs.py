"""Pattern packs: the words of the failure signals (seed 003), as validated data files.

A pack is a TOML file of rules for one language, or for one domain whatever the language. All
patterns are RE2 (https://github.com/google/re2/wiki/Syntax): no look-around, no
back-references, and time linear in the text whatever the pattern. They are matched on folded
text (`speech.fold`): lower case, without accents, line ends as spaces.

The packs of ``packs/`` are read once, when this module is imported, as its code is.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from typing import Annotated, Any, Literal

import re2
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from schemas.quality import SignalType

MAX_PATTERN = 2_000
"""Longest pattern of a pack, with its fragments put in, code points."""
MAX_RULES = 200
"""Most rules of a pack."""
PATTERN_MEMORY = 8 << 20
"""Memory that RE2 may use for one compiled pattern, bytes (RE2's own default)."""
SET_MEMORY = 64 << 20
"""The same for the patterns of a pack searched at once."""

Within = Literal["anywhere", "opening", "first", "brief"]
Pattern = Annotated[str, Field(min_length=1, max_length=MAX_PATTERN)]


class InvalidPattern(ValueError):
    """A pattern that RE2 refuses, or that is too long; the message names it."""


class PackModel(BaseModel):
    """What packs are made of; a name that does not exist is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SignalRule(PackModel):
    """One way in which a signal shows.

    Attributes:
        signal: what it is a sign of.
        match: patterns, any of which shows it.
        within: anywhere; in the opening (the first three sentences that the answer speaks); in
            the first one; or in an answer that is brief and says nothing else.
        at_start: only at the start of a sentence, apologies and turns left aside.
        questions: whether it also counts in a question.
        weight: severity; that of the signal type if absent.
        unless_before: no signal if one of these is found before the match in its sentence.
        unless_after: the same behind the match.
        unless_sentence: the same in the whole sentence.
        followed_by: only if one of these is found behind the match or in the next sentence.
        unless_followed_by: no signal if one of these is found there.
    """

    signal: SignalType
    match: tuple[Pattern, ...] = Field(min_length=1)
    within: Within = "anywhere"
    at_start: bool = False
    questions: bool = False
    weight: float | None = Field(default=None, gt=0, le=1)
    unless_before: tuple[Pattern, ...] = ()
    unless_after: tuple[Pattern, ...] = ()
    unless_sentence: tuple[Pattern, ...] = ()
    followed_by: tuple[Pattern, ...] = ()
    unless_followed_by: tuple[Pattern, ...] = ()


GUARDS = ("match", "unless_before", "unless_after", "unless_sentence", "followed_by", "unless_followed_by")


class PatternPack(PackModel):
    """The rules of one language or domain.

    Attributes:
        name: of the pack.
        version: of the pack; it stands beside the rules' version.
        language: ISO 639-1 code; absent for a pack that counts in every language.
        condition: words before a match that make it a case and no statement ("if").
        attribution: words that show somebody else to speak; for use as ``{attribution}``.
        lead_in: what may stand before the start of a sentence ("Sorry, but …").
        fragments: parts of patterns, used as ``{name}``.
        rules: the rules.
    """

    name: str = Field(min_length=1, max_length=50)
    version: str = Field(min_length=1, max_length=20)
    language: str | None = Field(default=None, pattern="^[a-z]{2}$")
    condition: Pattern | None = None
    attribution: Pattern | None = None
    lead_in: Pattern | None = None
    fragments: dict[str, Pattern] = Field(default_factory=dict)
    rules: tuple[SignalRule, ...] = Field(min_length=1, max_length=MAX_RULES)

    @model_validator(mode="after")
    def _compiles(self) -> "PatternPack":
        compile_pack(self)
        return self

    @cached_property
    def compiled(self) -> "CompiledPack":
        """The pack, ready to be matched."""
        return compile_pack(self)

    @cached_property
    def refusals(self) -> "CompiledPack":
        """The rules of refusals alone, for who asks for nothing else."""
        return only_signal(self.compiled, "refusal")


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A rule whose patterns are compiled; the names are those of `SignalRule`."""

    rule: SignalRule
    match: Any
    unless_before: Any
    unless_after: Any
    unless_sentence: Any
    followed_by: Any
    unless_followed_by: Any


@dataclass(frozen=True, slots=True)
class CompiledPack:
    """A pack ready to be matched.

    Attributes:
        condition: compiled, or ``None``.
        lead_in: compiled, anchored at both ends, or ``None``.
        anywhere: rules for the whole answer.
        anywhere_set: their patterns searched at once; it gives the numbers of those that match.
        opening: rules for the opening.
        opening_set: the same for a sentence of the opening.
    """

    condition: Any
    lead_in: Any
    anywhere: tuple[CompiledRule, ...]
    anywhere_set: Any
    opening: tuple[CompiledRule, ...]
    opening_set: Any


def compile_pattern(pattern: str, where: str, *, max_length: int = MAX_PATTERN) -> Any:
    """Compile one pattern.

    Args:
        pattern: RE2 syntax.
        where: its place, for the message.
        max_length: longest accepted, code points.

    Raises:
        InvalidPattern: naming the place and the pattern.
    """
    if len(pattern) > max_length:
        raise InvalidPattern(f"{where}: the pattern has {len(pattern)} characters, at most {max_length} are accepted")
    try:
        return re2.compile(pattern, _options(PATTERN_MEMORY))
    except re2.error as error:
        reason = error.args[0] if error.args else error
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise InvalidPattern(f"{where}: '{pattern}' is no RE2 pattern: {reason}") from None


def parse_pack(content: bytes, source: str) -> PatternPack:
    """Read a pack.

    Args:
        content: TOML, UTF-8.
        source: where it comes from, for the message.

    Raises:
        InvalidPattern: it is no TOML, lacks a field, or holds a pattern that does not compile.
    """
    try:
        return PatternPack.model_validate(tomllib.loads(content.decode("utf-8")))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidPattern(f"pattern pack {source}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidPattern(f"pattern pack {source}: {place + ': ' if place else ''}{first['msg']}") from None


def compile_pack(pack: PatternPack) -> CompiledPack:
    """Compile a pack.

    Raises:
        InvalidPattern: naming the rule and the pattern that does not compile.
    """
    fragments = dict(pack.fragments) | ({"attribution": pack.attribution} if pack.attribution else {})
    rules = [_compile_rule(pack, number, rule, fragments) for number, rule in enumerate(pack.rules, start=1)]
    anywhere = tuple(rule for rule in rules if rule.rule.within == "anywhere")
    opening = tuple(rule for rule in rules if rule.rule.within != "anywhere")
    lead_in = f"\\W*(?:{_filled(pack.lead_in, fragments)}\\W+){{0,3}}" if pack.lead_in else None
    return CompiledPack(
        condition=_one(f"pattern pack {pack.name}: condition", (pack.condition,) if pack.condition else (), fragments),
        lead_in=compile_pattern(lead_in, f"pattern pack {pack.name}: lead_in") if lead_in else None,
        anywhere=anywhere,
        anywhere_set=_set_of(anywhere),
        opening=opening,
        opening_set=_set_of(opening),
    )


def only_signal(pack: CompiledPack, signal: SignalType) -> CompiledPack:
    """A pack with the rules of one signal alone."""
    anywhere = tuple(rule for rule in pack.anywhere if rule.rule.signal == signal)
    opening = tuple(rule for rule in pack.opening if rule.rule.signal == signal)
    return replace(
        pack, anywhere=anywhere, anywhere_set=_set_of(anywhere), opening=opening, opening_set=_set_of(opening)
    )


def matching(rules: Sequence[CompiledRule], searched_at_once: Any, text: bytes) -> list[CompiledRule]:
    """The rules of which a pattern is found in a text, in their order; all in one search."""
    return [rules[number] for number in sorted(searched_at_once.Match(text) or ())] if rules else []


def _set_of(rules: Sequence[CompiledRule]) -> Any:
    found = re2.Set.SearchSet(_options(SET_MEMORY))
    for rule in rules:
        found.Add(rule.match.pattern)
    found.Compile()
    return found


def _compile_rule(pack: PatternPack, number: int, rule: SignalRule, fragments: Mapping[str, str]) -> CompiledRule:
    where = f"pattern pack {pack.name}: rule {number} ({rule.signal})"
    return CompiledRule(rule, *(_one(f"{where}.{name}", getattr(rule, name), fragments) for name in GUARDS))


def _one(where: str, patterns: Sequence[str], fragments: Mapping[str, str]) -> Any:
    """One compiled alternation of patterns, each of which is compiled alone before, or ``None``."""
    filled = [_filled(pattern, fragments) for pattern in patterns]
    for number, pattern in enumerate(filled, start=1):
        compile_pattern(pattern, f"{where}[{number}]")
    whole = "|".join(f"(?:{pattern})" for pattern in filled)
    return compile_pattern(whole, where, max_length=50 * MAX_PATTERN) if filled else None


def _filled(pattern: str, fragments: Mapping[str, str]) -> str:
    for name, fragment in fragments.items():
        pattern = pattern.replace("{" + name + "}", fragment)
    return pattern


def _options(memory: int) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = memory
    return options


def _shipped() -> dict[str, PatternPack]:
    folder = files("workers.steps") / "packs"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    packs: Iterable[PatternPack] = (parse_pack((folder / name).read_bytes(), name) for name in names)
    return {pack.name: pack for pack in packs}


SHIPPED: Mapping[str, PatternPack] = _shipped()
"""The packs that come with the worker, by name."""
LANGUAGES: Mapping[str, PatternPack] = {pack.language: pack for pack in SHIPPED.values() if pack.language}
"""Those of languages, by ISO 639-1 code."""
