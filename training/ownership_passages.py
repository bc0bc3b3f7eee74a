"""Write passages of several subjects with a value each, in plain sentences, contrasts, ellipses, tables and others."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from training.ownership_words import PLACES, VALUES, written_number, written_subject
from training.relations import Relation


@dataclass(slots=True)
class Facts:
    """Hold the subjects of a passage with their values; the first is the claim's subject."""

    relation: Relation
    subjects: list[str]
    values: list[str]
    rng: random.Random

    def clause(self, place: int, phrase: str | None = None) -> str:
        phrase = phrase or self.rng.choice(self.relation.phrases)
        return f"{self.subjects[place]} {phrase.format(v=self.values[place])}"

    def sentence(self, place: int) -> str:
        if self.rng.random() < 0.35:
            form = self.rng.choice(self.relation.sentences)
            return form.format(s=self.subjects[place], v=self.values[place])
        return self.clause(place)

    def short(self, place: int) -> str:
        return f"{self.subjects[place]} {self.relation.rest.format(v=self.values[place])}"


def write_facts(relation: Relation, rng: random.Random) -> Facts:
    """Choose two to four subjects, each with its value of a relation."""
    count = rng.choice([2, 2, 2, 3, 3, 4])
    subjects: list[str] = []
    values: list[str] = []
    while len(subjects) < count:
        if (subject := written_subject(relation.subject, rng)) not in subjects:
            subjects.append(subject)
    while len(values) < count:
        value = VALUES[relation.value](rng)
        if value not in values and not any(value in other or other in value for other in (*values, *subjects)):
            values.append(value)
    # Values of one passage look alike: the same unit and way of writing.
    if relation.value in ("money", "duration", "length", "weight", "memory"):
        head = values[0]
        number = next(
            part for part in head.replace("$", " ").replace("£", " ").replace("€", " ").split() if part not in ("EUR",)
        )
        alike = [head]
        while len(alike) < count:
            candidate = head.replace(number, written_number(rng, 2, 900), 1)
            if candidate not in alike:
                alike.append(candidate)
        values = alike
    return Facts(relation, subjects, values, rng)


ASIDES = {
    "person": "a trained engineer|who studied abroad|the youngest of three|a friend of the family|who rarely speaks in public|formerly a teacher",
    "": "which few people know|the better known of them|often mentioned in the press|which visitors like|the older one|named after its founder|now under new management",
}
FILLERS = """The figures were published last week.|All of this is in the annual report.|Nobody objected.|More details follow below.
The weather was fine that day.|The list is updated every quarter.|Both are well known in the region.|Questions can be sent to the office.
This has not changed since then.|The committee meets twice a year.|See the appendix for sources.|The comparison was made by an independent institute.""".replace(
    "\n", "|"
).split("|")
VERBS_OF_JOINING = [
    "is next to",
    "was compared with",
    "differs from",
    "is often mistaken for",
    "is mentioned together with",
    "cooperates with",
    "is better known than",
    "came before",
    "is listed after",
]


def _plain(facts: Facts, order: Sequence[int]) -> str:
    return joined_sentences(facts.sentence(place) for place in order)


def _same_phrase(facts: Facts, order: Sequence[int]) -> str:
    phrase = facts.rng.choice(facts.relation.phrases)
    clauses = [facts.clause(place, phrase) for place in order]
    link = facts.rng.choice([", while ", ", whereas ", "; ", ", and ", ", but ", ", although "])
    return joined_sentences([link.join(clauses[:2]), *clauses[2:]])


def _ellipsis(facts: Facts, order: Sequence[int]) -> str:
    rest = [facts.short(place) for place in order[1:]]
    link = facts.rng.choice([", ", "; "])
    last = facts.rng.choice([" and ", ", and ", ", ", " but "])
    return joined_sentences([link.join([facts.clause(order[0]), *rest[:-1]]) + last + rest[-1]])


def _respectively(facts: Facts, order: Sequence[int]) -> str:
    phrase = facts.rng.choice(facts.relation.phrases)
    subjects = joined([facts.subjects[place] for place in order])
    values = joined([facts.values[place] for place in order])
    last = facts.rng.choice([", respectively", " respectively", ", in this order", ", in that order"])
    return joined_sentences([f"{subjects} {phrase.format(v=values)}{last}"])


def _relative(facts: Facts, order: Sequence[int]) -> str:
    who = "who" if facts.relation.subject == "person" else "which"
    one, two = order[:2]
    phrases = [facts.rng.choice(facts.relation.phrases).format(v=facts.values[place]) for place in (one, two)]
    joining = facts.rng.choice(VERBS_OF_JOINING)
    forms = [
        f"{facts.subjects[one]}, {who} {phrases[0]}, {joining} {facts.subjects[two]}, {who} {phrases[1]}",
        f"{facts.subjects[one]}, {who} {joining} {facts.subjects[two]}, {phrases[0]}",
        f"{facts.subjects[one]} {joining} {facts.subjects[two]}, {who} {phrases[1]}",
        f"{facts.subjects[one]} {joining} {facts.subjects[two]} and {phrases[0]}",
    ]
    number = facts.rng.randrange(4)
    told = [facts.sentence(place) for place in ((), (two,), (one,), (two,))[number]]
    return joined_sentences([forms[number], *told, *(facts.sentence(place) for place in order[2:])])


def _pronoun(facts: Facts, order: Sequence[int]) -> str:
    parts = []
    for place in order:
        pronoun = anaphor(facts.relation.subject, facts.rng)
        aside = facts.rng.choice(
            [
                "is well known",
                "was mentioned first",
                "has changed little",
                "needs no introduction",
                "is part of the list",
                "was in the news",
                "came up in the meeting",
                "is our oldest entry",
            ]
        )
        phrase = facts.rng.choice(facts.relation.phrases).format(v=facts.values[place])
        parts += [f"{facts.subjects[place]} {aside}", f"{pronoun} {phrase}"]
    return joined_sentences(parts)


def anaphor(kind: str, rng: random.Random) -> str:
    """Return a pronoun or noun that stands for a subject of a kind."""
    if rng.random() < 0.6:
        return rng.choice(["He", "She"]) if kind == "person" else "It"
    nouns = {"person": "engineer|woman|man|author|scientist|manager", "company": "firm|company|business|group"}
    return f"The {rng.choice(nouns.get(kind, f'{kind}|latter').split('|'))}"


def _headed(facts: Facts, order: Sequence[int]) -> str:
    """Write each subject as a heading, with its value below."""
    rng = facts.rng
    parts = []
    for place in order:
        subject = bare(facts.subjects[place])
        phrase = rng.choice(facts.relation.phrases).format(v=facts.values[place])
        below = rng.choice(
            [
                f"{anaphor(facts.relation.subject, rng)} {phrase}.",
                f"{facts.relation.column.capitalize()}: {facts.values[place]}.",
                f"{phrase.capitalize()}.",
            ]
        )
        parts.append(
            f"{rng.choice(['', '# ', '- ', '## '])}{subject[0].upper()}{subject[1:]}{rng.choice([chr(10), ': ', ' – '])}{below}"
        )
    return rng.choice(["\n", " "]).join(parts)


def _for(facts: Facts, order: Sequence[int]) -> str:
    """Write values with "for": "The price is 20 for the pump and 30 for the drill"."""
    column = facts.relation.column
    items = [f"{facts.values[place]} for {facts.subjects[place]}" for place in order]
    head = facts.rng.choice(
        [f"The {column} is ", f"As {column}, the list gives ", f"We noted as {column}: ", f"{column.capitalize()}: "]
    )
    forms = [
        f"{head}{joined(items)}",
        f"For {facts.subjects[order[0]]} the {column} is {facts.values[order[0]]}, for {facts.subjects[order[1]]} it is {facts.values[order[1]]}",
    ]
    if facts.rng.random() < 0.5:
        return joined_sentences([forms[0]])
    return joined_sentences([forms[1], *(facts.sentence(place) for place in order[2:])])


def _contrast(facts: Facts, order: Sequence[int]) -> str:
    one, two = order[:2]
    phrase = facts.rng.choice(facts.relation.phrases)
    own = phrase.format(v=facts.values[one])
    s, v, rng = facts.subjects, facts.values, facts.rng
    other = facts.relation.rest.format(v=v[two])
    forms = [
        f"Unlike {s[two]}, which {phrase.format(v=v[two])}, {s[one]} {own}",
        f"{s[one]} {own}, not {other} like {s[two]}",
        f"{s[one]} {own}, compared with {v[two]} for {s[two]}",
        f"While {s[two]} {phrase.format(v=v[two])}, {s[one]} {own}",
        f"{s[one]} {own}; for {s[two]} it is {v[two]}",
        f"In contrast to {s[two]} ({v[two]}), {s[one]} {own}",
        f"It is {s[two]} that {phrase.format(v=v[two])}; {s[one]} {own}",
        f"{s[one]} {own}, as opposed to {s[two]} with {v[two]}",
        f"{facts.clause(two)}. By contrast, {s[one]} {own}",
        f"Not {s[one]} but {s[two]} {phrase.format(v=v[two])}. {s[one]} {own}",
        f"After {s[two]} ({v[two]}) comes {s[one]} ({v[one]})",
        f"Of the two, {s[one]} {own} and {s[two]} {other}",
    ]
    return joined_sentences([rng.choice(forms), *(facts.sentence(place) for place in order[2:])])


def _former(facts: Facts, order: Sequence[int]) -> str:
    one, two = order[:2]
    phrase = facts.rng.choice(facts.relation.phrases)
    first, last = facts.rng.choice([("The former", "the latter"), ("The first", "the second")])
    head = facts.rng.choice(
        [
            "Two names matter here: {} and {}",
            "{} and {} are often confused",
            "There are {} and {}",
            "The list has {} and {}",
        ]
    )
    own = phrase.format(v=facts.values[one])
    return joined_sentences(
        [
            head.format(facts.subjects[one], facts.subjects[two]),
            f"{first} {own}, {last} {phrase.format(v=facts.values[two])}",
            *(facts.sentence(place) for place in order[2:]),
        ]
    )


def _parenthesis(facts: Facts, order: Sequence[int]) -> str:
    inner = [
        f"{facts.subjects[place]} ({facts.rng.choice([facts.relation.column + ': ', facts.relation.column + ' ', ''])}{facts.values[place]})"
        for place in order
    ]
    return joined_sentences(
        [
            facts.rng.choice(
                ["The list has {}", "We compared {}", "On offer are {}", "Mentioned were {}", "There are {}"]
            ).format(joined(inner))
        ]
    )


def _apposition(facts: Facts, order: Sequence[int]) -> str:
    asides = ASIDES.get(facts.relation.subject, ASIDES[""]).split("|")
    return joined_sentences(
        f"{facts.subjects[place]}, {facts.rng.choice(asides)}, {facts.rng.choice(facts.relation.phrases).format(v=facts.values[place])}"
        for place in order
    )


def _table(facts: Facts, order: Sequence[int]) -> str:
    rng, column = facts.rng, facts.relation.column
    subjects, values = [bare(facts.subjects[place]) for place in order], [facts.values[place] for place in order]
    extra = rng.random() < 0.5
    others = [str(rng.randint(1, 500)) for _ in order]
    form = rng.randrange(7)
    if form >= 5:
        name = rng.choice(["name", facts.relation.subject, "item", "id"])
        joint, is_title = rng.choice(["; ", ", "]), rng.random() < 0.5
        rows = []
        for s, v, other in zip(subjects, values, others, strict=True):
            fields = [(name, s), (column, v), *([("number", other)] if extra else []), ("region", rng.choice(PLACES))]
            head, rest = fields[:1], fields[1:]
            if rng.random() < 0.3:
                rest.reverse()
            rows.append(joint.join(f"{key.capitalize() if is_title else key}: {text}" for key, text in head + rest))
        return rng.choice(["\n", " ", ". "]).join(rows)
    if form == 0:
        titles = ["name", column, *(["number"] if extra else [])]
        cells = [[s, v, *([o] if extra else [])] for s, v, o in zip(subjects, values, others, strict=True)]
        if extra and rng.random() < 0.5:
            titles, cells = [titles[0], titles[2], titles[1]], [[a, c, b] for a, b, c in cells]
        ruler = ["|" + "---|" * len(titles)] if rng.random() < 0.6 else []
        return "\n".join(["| " + " | ".join(titles) + " |", *ruler, *("| " + " | ".join(row) + " |" for row in cells)])
    if form == 1:
        return "\n".join(
            f"{s}: {v}" if rng.random() < 0.8 else f"{s}: {column} {v}" for s, v in zip(subjects, values, strict=True)
        )
    if form == 2:
        return "\n".join(f"- {s} – {v}" for s, v in zip(subjects, values, strict=True))
    if form == 3:
        return "; ".join(f"name: {s}, {column}: {v}" for s, v in zip(subjects, values, strict=True))
    return f"{column.capitalize()}: " + ", ".join(f"{s} {v}" for s, v in zip(subjects, values, strict=True)) + "."


def bare(subject: str) -> str:
    """Return a subject without its article."""
    return subject.removeprefix("the ")


def joined(parts: Sequence[str]) -> str:
    """Join parts with commas and "and"."""
    return ", ".join(parts[:-1]) + " and " + parts[-1]


def joined_sentences(parts: Sequence[str] | Iterator[str]) -> str:
    """Join parts as sentences."""
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in parts)


FORMS = (
    _plain,
    _plain,
    _same_phrase,
    _ellipsis,
    _respectively,
    _relative,
    _relative,
    _pronoun,
    _contrast,
    _contrast,
    _contrast,
    _former,
    _parenthesis,
    _apposition,
    _headed,
    _for,
    _table,
    _table,
)


def write_passage(facts: Facts, order: Sequence[int]) -> str:
    """Write what is told of all subjects, in a given order, with sentences that tell nothing of them."""
    rng = facts.rng
    text = rng.choice(FORMS)(facts, order)
    fillers = [rng.choice(FILLERS) for _ in range(rng.choice([0, 0, 1, 2]))]
    parts = [text, *fillers]
    rng.shuffle(parts)
    return ("\n" if "\n" in text else " ").join(parts)
