"""Scenes that we write, and what can be said of them: who did what to whom.

Rules and models that compare words take "The cook paid the guard" for "The guard paid the cook". So each scene is
written twice, with the parts of two of its people or things exchanged and every other word the same, and the same
claims are made about both: what is said in the one is contradicted in the other, and what neither says (a third one of
the scene in the part of one of the two, or something else that the two did) is unsupported. Of a claim alone, or of
the words of a scene without their order, nothing about the verdict can be told.

A claim is put as the scene puts it or in another way: active, passive, cleft, with a word that means the same, from the
other side ("lent to", "borrowed from"; "taller", "shorter"; "before", "after"), and without what else the sentence says.
Words are held out, not scenes alone: about a quarter of the nouns and, but for giving and saying, of the verbs is only
in the pairs that are kept back.
Source: counterfactual pairs (Kaushik et al. 2020) and templates against heuristics of words (HANS, McCoy et al. 2019).
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from training import role_words as words
from training.pairs import CONTRADICTED, SUPPORTED, UNSUPPORTED, RawPair, digest, in_half

SHARE_HELD_OUT = 0.25
"""Of words, and of scenes."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody or something that takes part.

    Attributes:
        phrase: as it stands in a sentence.
        plural: whether there are several.
    """

    phrase: str
    plural: bool = False

    @property
    def was(self) -> str:
        """The verb that agrees with it."""
        return "were" if self.plural else "was"


@dataclass(frozen=True, slots=True)
class Relation:
    """What one does to the other.

    Attributes:
        forms: sentences without a full stop that all say it, with ``{x}`` and ``{y}`` for the two, ``{x_was}`` and
            ``{y_was}`` for verbs that agree with them.
        about: what it is of; of two relations of a scene this differs, so that neither follows from the other.
    """

    forms: tuple[str, ...]
    about: str

    def said(self, form: int, x: Actor, y: Actor) -> str:
        """The sentence for the two, without a capital or a full stop."""
        return self.forms[form].format(x=x.phrase, y=y.phrase, x_was=x.was, y_was=y.was)


@dataclass(frozen=True, slots=True)
class Field:
    """What a scene is about: who may be in it, how they relate, what each of them does alone."""

    actors: Callable[[random.Random, bool], list[Actor]]
    relation: Callable[[random.Random, bool], Relation]
    alone: str
    clauses: str = ""


def role_pairs(seed: int, scenes: int) -> Iterator[RawPair]:
    """Pairs over scenes that this module writes, each scene in two readings, four pairs each.

    Args:
        seed: of all choices.
        scenes: how many; a quarter of them is of words that no other scene has, and held out.
    """
    rng = random.Random(seed)
    for number in range(scenes):
        held_out = in_half(f"scene {number}", SHARE_HELD_OUT)
        (field,) = rng.choices(list(FIELDS), weights=list(FIELDS.values()))
        yield from _scene(f"roles-{number}", field, held_out, rng)


def _scene(identifier: str, field: Field, held_out: bool, rng: random.Random) -> Iterator[RawPair]:
    one, two, third = field.actors(rng, held_out)
    relation = field.relation(rng, held_out)
    other = field.relation(rng, held_out)
    while other.about == relation.about:
        other = field.relation(rng, held_out)
    when = rng.choice([*words.TIMES.split("|"), ""])
    telling = _telling(field, relation, other, third, when, rng)
    alone = [_alone(each, field, rng) for each in (one, two) if rng.random() < 0.3]
    around = rng.sample(words.OTHERWISE.split("|"), rng.choice([0, 0, 1, 1, 2, 3]))
    forms = [rng.randrange(len(relation.forms)) for _ in range(2)]
    ends = [when if rng.random() < 0.4 else "" for _ in forms]
    strange = _not_said(relation, other, third, forms[1], rng)
    seed = rng.random()
    for reading, (x, y) in enumerate(((one, two), (two, one))):
        sentences = [*telling(x, y), *alone, *around]
        random.Random(seed).shuffle(sentences)
        text = " ".join(sentences)
        claims = (
            ("said", _sentence(relation.said(forms[0], x, y), ends[0]), SUPPORTED),
            ("swapped", _sentence(relation.said(forms[0], y, x), ends[0]), CONTRADICTED),
            ("again", _sentence(relation.said(forms[1], x, y), ends[1]), SUPPORTED),
            ("other", _sentence(strange(x, y), ends[1]), UNSUPPORTED),
        )
        for name, claim, label in claims:
            spans = () if label == SUPPORTED else ((0, len(claim)),)
            yield RawPair(
                f"{identifier}-{reading}-{name}", "roles", (text,), claim, label, held_out, spans=spans,
                made_from=digest(identifier),
            )  # fmt: skip


def _telling(
    field: Field, relation: Relation, other: Relation, third: Actor, when: str, rng: random.Random
) -> Callable[[Actor, Actor], list[str]]:
    """How the scene tells the relation of any two and what it tells of the third: all choices but who the two are."""
    # Most texts say who did it first; so do half of these.
    form = 0 if rng.random() < 0.5 else rng.randrange(len(relation.forms))
    clauses = field.clauses.split("|") if field.clauses and rng.random() < 0.4 else []
    described = (rng.choice("xy"), rng.choice(clauses), rng.random() < 0.5) if clauses else None
    aside = _alone(third, field, rng)[:-1]
    join = rng.choice(["{said}", "{said}", "{said}, and {aside}", "{said}, while {aside}", "when {aside}, {said}"])
    fronted = join.startswith("{said}") and rng.random() < 0.3
    # The third is in every scene; else what is said of it would be known to be wrong by its name alone.
    tells_other = "{aside}" not in join or rng.random() < 0.7
    near, by_third = rng.randrange(2), rng.random() < 0.5
    other_form = rng.randrange(len(other.forms))

    def told(x: Actor, y: Actor) -> list[str]:
        said = relation.said(form, *_described(x, y, described))
        said = f"{when}, {said}" if when and fronted else f"{said.rstrip(',')} {when}".strip()
        sentences = [_sentence(join.format(said=said, aside=_lowered(aside)))]
        if tells_other:
            # Sorted, so that in both readings it is the same of the two who has to do with the third.
            met = sorted((x, y), key=lambda each: each.phrase)[near]
            sentences.append(_sentence(other.said(other_form, *((third, met) if by_third else (met, third)))))
        return sentences

    return told


def _described(x: Actor, y: Actor, described: tuple[str, str, bool] | None) -> tuple[Actor, Actor]:
    if not described:
        return x, y
    which, clause, between_commas = described
    found = []
    for name, each in (("x", x), ("y", y)):
        agreeing = clause.replace("was ", "were ", 1) if each.plural and clause.startswith("was ") else clause
        text = f"{each.phrase}, who {agreeing}," if between_commas else f"{each.phrase} who {agreeing}"
        found.append(Actor(text, each.plural) if name == which and each.phrase.startswith("the ") else each)
    return found[0], found[1]


def _not_said(
    relation: Relation, other: Relation, third: Actor, form: int, rng: random.Random
) -> Callable[[Actor, Actor], str]:
    """Something of the same words that no reading says: the third in the part of one, or what is told of the third."""
    kind = rng.randrange(3)
    other_form = rng.randrange(len(other.forms))
    if kind == 0:
        return lambda _x, y: relation.said(form, third, y)
    if kind == 1:
        return lambda x, _y: relation.said(form, x, third)
    return lambda x, y: other.said(other_form, x, y)


def _alone(actor: Actor, field: Field, rng: random.Random) -> str:
    text = rng.choice(field.alone.split("|"))
    if actor.plural and text.startswith("was "):
        text = text.replace("was ", "were ", 1)
    return _sentence(f"{actor.phrase} {text}")


def _sentence(text: str, end: str = "") -> str:
    whole = f"{text.rstrip(',')} {end}".strip()
    return f"{whole[0].upper()}{whole[1:]}."


def _lowered(text: str) -> str:
    return f"the {text[4:]}" if text.startswith("The ") else text


def kept_apart(items: Sequence[str], held_out: bool) -> list[str]:
    """The share of the words that scenes of training, or those that are held out, are written with."""
    return [each for each in items if in_half(f"word {each.split('/')[0]}", SHARE_HELD_OUT) == held_out]


def _people(rng: random.Random, held_out: bool) -> list[Actor]:
    if rng.random() < 0.1:
        return [Actor(name) for name in rng.sample(kept_apart(words.FIRST_NAMES.split("|"), held_out), 3)]
    own = (kept_apart(row.split("|"), held_out) for row in words.PEOPLE.values())
    nouns = rng.sample(rng.choice([row for row in own if len(row) > 2]), 3)
    if rng.random() < 0.25:
        place = rng.randrange(3)
        return [Actor(f"the {_several(noun)}", True) if at == place else _the(noun) for at, noun in enumerate(nouns)]
    return [_the(noun) for noun in nouns]


def _things(row: str) -> Callable[[random.Random, bool], list[Actor]]:
    return lambda rng, held_out: [_the(noun) for noun in rng.sample(kept_apart(row.split("|"), held_out), 3)]


def _firms(rng: random.Random, held_out: bool) -> list[Actor]:
    places = rng.sample(kept_apart(words.PLACES.split("|"), held_out), 3)
    return [Actor(f"{place} {rng.choice(words.TRADES.split('|'))}") for place in places]


def _the(noun: str) -> Actor:
    return Actor(f"the {noun}")


def _several(noun: str) -> str:
    if noun.endswith("man"):
        return f"{noun[:-3]}men"
    return _third_person(noun)


def _third_person(word: str) -> str:
    """With an s, as both nouns in the plural and verbs in the present have it."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


def _past(verb: str) -> tuple[str, str]:
    """Past and participle."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ied", f"{verb[:-1]}ied"
    return (f"{verb}d",) * 2 if verb.endswith("e") else (f"{verb}ed",) * 2


def _irregular(*tables: str) -> dict[str, tuple[str, str]]:
    rows = [cell.split() for table in tables for cell in table.replace("\n", "|").split("|") if cell.strip()]
    return {verb: (past, participle) for verb, past, participle in rows}


_IRREGULAR = _irregular(words.IRREGULAR, words.THINGS_IRREGULAR)


def _acting(row: str, about: str, cleft: str, *, now: bool = False) -> Relation:
    """Words that mean the same, "/" between them, as active, passive and cleft sentences."""
    forms: list[str] = []
    verbs = row.split("/")
    for verb in verbs:
        past, participle = _past(verb)
        does = _third_person(verb) if now else past
        passive = f"{{y}} is {participle} by {{x}}" if now else f"{{y}} {{y_was}} {participle} by {{x}}"
        forms += [f"{{x}} {does} {{y}}", passive]
    # Those in which the two stand in another order are rarer in texts, and here.
    return Relation((*forms, f"it {'is' if now else 'was'} {{x}} {cleft} {forms[0].removeprefix('{x} ')}"), about)


def _between_people(rng: random.Random, held_out: bool) -> Relation:
    named = {name: kept_apart(row.split("|"), held_out) for name, row in words.DOES_TO_PEOPLE.items()}
    about = rng.choice([name for name, rows in named.items() if rows])
    return _acting(rng.choice(named[about]), about, "who")


def _of(row: str, *, now: float = 0.0) -> Callable[[random.Random, bool], Relation]:
    def relation(rng: random.Random, held_out: bool) -> Relation:
        verbs = rng.choice(kept_apart(row.split("|"), held_out))
        return _acting(verbs, verbs, "that", now=rng.random() < now)

    return relation


def _giving(rng: random.Random, _held_out: bool) -> Relation:
    gave, got, *things = _cells(rng.choice(words.GIVES.strip().split("\n")))
    thing, verb = rng.choice(things), gave.removesuffix(" to")
    participle = {"gave": "given"}.get(verb, verb)
    forms = (
        f"{{x}} {verb} {{y}} {thing}",
        f"{{x}} {verb} {thing} to {{y}}",
        f"{{y}} {got} {{x}}".replace(" from", f" {thing} from"),
        f"{{y}} {{y_was}} {participle} {thing} by {{x}}",
    )
    return Relation(forms, "giving")


def _cells(row: str) -> list[str]:
    gave, got, things = (part.strip() for part in row.split(":"))
    return [gave, got, *(thing.strip() for thing in things.split(","))]


def _comparing(rng: random.Random, held_out: bool) -> Relation:
    row = rng.choice(kept_apart(words.COMPARES.split("|"), held_out)).split()
    more, less = " ".join(row[: len(row) // 2]), " ".join(row[len(row) // 2 :])
    return Relation((f"{{x}} {{x_was}} {more} than {{y}}", f"{{y}} {{y_was}} {less} than {{x}}"), "comparing")


def _first(rng: random.Random, held_out: bool) -> Relation:
    did = rng.choice(kept_apart(words.COMES_FIRST.split("|"), held_out))
    before, after = (did.replace("was ", f"{{{each}_was}} ") for each in "xy")
    return Relation((f"{{x}} {before} before {{y}}", f"{{y}} {after} after {{x}}"), "order")


def _standing(rng: random.Random, held_out: bool) -> Relation:
    one, other = rng.choice(kept_apart(words.STANDS.strip().split("\n"), held_out)).split("|")
    forms = f"{{x}} {one} {{y}}".replace("was ", "{x_was} "), f"{{y}} {other} {{x}}".replace("was ", "{y_was} ")
    return Relation(forms, f"place {one}")


def _owning(rng: random.Random, held_out: bool) -> Relation:
    thing = rng.choice(words.OWNED.split("|"))
    forms: list[str] = []
    for verb in rng.choice(kept_apart(words.DONE_TO_THINGS.split("|"), held_out)).split("/"):
        past, participle = _past(verb)
        forms += [f"{{x}} {past} the {thing} of {{y}}", f"the {thing} of {{y}} was {participle} by {{x}}"]
    return Relation(tuple(forms), "owning")


def _saying(rng: random.Random, _held_out: bool) -> Relation:
    did = rng.choice(words.SAID.split("|"))
    forms = (
        f"{{x}} said that {{y}} had {did}",
        f"according to {{x}}, {{y}} had {did}",
        f"that {{y}} had {did} was what {{x}} said",
    )
    return Relation(forms, "saying")


def _any_of(rng: random.Random, held_out: bool) -> Relation:
    makers = [_between_people, _giving, _comparing, _first, _standing, _owning, _saying]
    (maker,) = rng.choices(makers, weights=[12, 3, 2, 2, 2, 2, 2])
    return maker(rng, held_out)


FIELDS: dict[Field, int] = {
    Field(_people, _any_of, words.PERSON_ALONE, words.CLAUSES): 12,
    Field(_things(words.ANIMALS), _of(words.DOES_TO_ANIMALS), words.THING_ALONE): 2,
    Field(_things(words.VEHICLES), _of(words.DOES_TO_VEHICLES), words.THING_ALONE): 2,
    Field(_things(words.MACHINES), _of(words.DOES_TO_MACHINES, now=0.6), words.THING_ALONE): 2,
    Field(_firms, _of(words.DOES_TO_FIRMS), words.FIRM_ALONE): 2,
    Field(_things(words.EVENTS), _of(words.DOES_TO_EVENTS), words.EVENT_ALONE): 3,
}
"""Kinds of scenes, with their weights."""
