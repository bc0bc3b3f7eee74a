"""Load pattern packs: the words of the failure signals as validated data files.

A pack is a TOML file of rules for one language, or for one domain in any language. All patterns are RE2
(https://github.com/google/re2/wiki/Syntax): no look-around, no back-references, and matching in linear time. They are
matched on folded text (`attributed_text.fold`): lower case, without accents, line ends as spaces.

The packs of ``packs/`` are read once, when this module is imported, and each is compiled at its first use: all of them
take most of a second, and an answer needs those of its language.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from typing import Annotated, Any, Literal

import re2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from schemas.quality import SignalType

MAX_PATTERN = 2_000
"""Maximum length of a pattern with its fragments inserted, code points."""
MAX_RULES = 200
"""Maximum number of rules of a pack."""
PATTERN_MEMORY = 8 << 20
"""Maximum memory of RE2 for one compiled pattern, bytes (RE2's default)."""
SET_MEMORY = 64 << 20
"""Maximum memory of RE2 for all patterns of a pack, bytes."""

Within = Literal["anywhere", "opening", "first", "brief", "sole"]
Pattern = Annotated[str, Field(min_length=1, max_length=MAX_PATTERN)]


class InvalidPattern(ValueError):
    """Report a pattern that RE2 rejects or that is too long; the message names the pattern."""


class PackModel(BaseModel):
    """Base class of the models of a pack; an unknown field name is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SignalRule(PackModel):
    """Describe one textual form of a signal.

    Attributes:
        signal: type of the signal.
        match: patterns; one match suffices.
        within: anywhere; in the opening (the first three own sentences); in the first own sentence; in a brief
            answer without other content; or in the first own sentence of a brief answer. Sentences that are only a
            lead-in ("I am sorry.") are not counted.
        at_start: only at the start of a sentence, after any apologies and connecting words.
        questions: True if the rule also applies to questions.
        weight: severity; by default the weight of the signal type.
        unless_before: no signal if one of these is found before the match in its sentence.
        unless_after: the same after the match.
        unless_sentence: the same in the whole sentence.
        followed_by: only if one of these is found after the match or in the next sentence.
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
    """Hold the rules of one language or domain.

    Attributes:
        name: name of the pack.
        version: version of the pack; part of the pipeline version.
        language: ISO 639-1 code; absent for a pack that counts in every language.
        script: ``latin`` for patterns on text folded to Latin letters without accents (`fold`); ``native`` for
            patterns on lower-case text in its own script (`fold_native`).
        condition: words before a match that make it a condition ("if").
        attribution: words that attribute a statement to another speaker; used as ``{attribution}``.
        lead_in: words accepted before the start of a sentence ("Sorry, but …").
        fragments: parts of patterns, used as ``{name}``.
        rules: the rules.
    """

    name: str = Field(min_length=1, max_length=50)
    version: str = Field(min_length=1, max_length=20)
    language: str | None = Field(default=None, pattern="^[a-z]{2}$")
    script: Literal["latin", "native"] = "latin"
    condition: Pattern | None = None
    attribution: Pattern | None = None
    lead_in: Pattern | None = None
    fragments: dict[str, Pattern] = Field(default_factory=dict)
    rules: tuple[SignalRule, ...] = Field(min_length=1, max_length=MAX_RULES)

    @cached_property
    def compiled(self) -> "CompiledPack":
        """Compile the pack for matching."""
        return compile_pack(self)

    @cached_property
    def failures(self) -> "CompiledPack":
        """Compile only the rules of refusals and failed calls."""
        return only_signals(self.compiled, {"refusal", "tool_failure"})


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """Hold a rule with compiled patterns; the names are those of `SignalRule`."""

    rule: SignalRule
    match: Any
    unless_before: Any
    unless_after: Any
    unless_sentence: Any
    followed_by: Any
    unless_followed_by: Any


@dataclass(frozen=True, slots=True)
class CompiledPack:
    """Hold a compiled pack.

    Attributes:
        script: as in `PatternPack`.
        condition: compiled, or ``None``.
        lead_in: compiled, anchored at both ends, or ``None``.
        anywhere: rules for the whole answer.
        anywhere_set: set of their patterns; it returns the numbers of those that match.
        opening: rules for the opening.
        opening_set: the same for a sentence of the opening.
    """

    script: Literal["latin", "native"]
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
        where: its position, for the message.
        max_length: maximum length, code points.

    Raises:
        InvalidPattern: the pattern is invalid; the message names position and pattern.
    """
    if len(pattern) > max_length:
        raise InvalidPattern(f"{where}: the pattern has {len(pattern)} characters; at most {max_length} are accepted")
    try:
        return re2.compile(pattern, _options(PATTERN_MEMORY))
    except re2.error as error:
        reason = error.args[0] if error.args else error
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise InvalidPattern(f"{where}: '{pattern}' is not a RE2 pattern: {reason}") from None


def parse_pack(content: bytes, source: str) -> PatternPack:
    """Read and compile a pack.

    Args:
        content: TOML, UTF-8.
        source: name of its source, for the message.

    Raises:
        InvalidPattern: the content is not TOML, lacks a field, or contains a pattern that does not compile.
    """
    pack = _read_pack(content, source)
    try:
        _ = pack.compiled
    except InvalidPattern as error:
        raise InvalidPattern(f"pattern pack {source}: {error}") from None
    return pack


def _read_pack(content: bytes, source: str) -> PatternPack:
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
        InvalidPattern: a pattern does not compile; the message names rule and pattern.
    """
    fragments = dict(pack.fragments) | ({"attribution": pack.attribution} if pack.attribution else {})
    rules = [_compile_rule(pack, number, rule, fragments) for number, rule in enumerate(pack.rules, start=1)]
    anywhere = tuple(rule for rule in rules if rule.rule.within == "anywhere")
    opening = tuple(rule for rule in rules if rule.rule.within != "anywhere")
    # RE2's \W contains all letters that are not ASCII.
    gap = r"\W" if pack.script == "latin" else r"[^\pL\pN]"
    lead_in = f"{gap}*(?:{_filled(pack.lead_in, fragments)}{gap}+){{0,3}}" if pack.lead_in else None
    return CompiledPack(
        script=pack.script,
        condition=_one(f"pattern pack {pack.name}: condition", (pack.condition,) if pack.condition else (), fragments),
        lead_in=compile_pattern(lead_in, f"pattern pack {pack.name}: lead_in") if lead_in else None,
        anywhere=anywhere,
        anywhere_set=_set_of(anywhere),
        opening=opening,
        opening_set=_set_of(opening),
    )


def only_signals(pack: CompiledPack, signals: Set[SignalType]) -> CompiledPack:
    """Return a pack with only the rules of some signals."""
    anywhere = tuple(rule for rule in pack.anywhere if rule.rule.signal in signals)
    opening = tuple(rule for rule in pack.opening if rule.rule.signal in signals)
    return replace(
        pack, anywhere=anywhere, anywhere_set=_set_of(anywhere), opening=opening, opening_set=_set_of(opening)
    )


def matching(rules: Sequence[CompiledRule], searched_at_once: Any, text: bytes | str) -> list[CompiledRule]:
    """Return the rules with a pattern that matches the text, in their order; use one search for all."""
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
    """Compile patterns alone, then as one alternation; return ``None`` without patterns."""
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
    folder = files("workers.evaluation.text") / "packs"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    packs: Iterable[PatternPack] = (_read_pack((folder / name).read_bytes(), name) for name in names)
    return {pack.name: pack for pack in packs}


SHIPPED: Mapping[str, PatternPack] = _shipped()
"""Shipped packs by name."""
LANGUAGES: Mapping[str, PatternPack] = {pack.language: pack for pack in SHIPPED.values() if pack.language}
"""Shipped packs of languages by ISO 639-1 code."""
ALWAYS: tuple[PatternPack, ...] = tuple(SHIPPED[name] for name in ("evasions", "messages", "other_languages"))
"""Shipped packs that count in every language."""
