"""Write passages of several subjects with a value each, and claims that give a subject its own value or another's.

The subject and the value of the claim are replaced by a marker word each, in the passage and in the claim alike
(entity markers: Baldini Soares et al. 2019, Zhou and Chen 2022), so that the reader learns whose a value is from the
construction of the sentences and not from the words.

    python -m training.ownership --pairs 40000 --out build/ownership/train.jsonl.gz
    python -m training.ownership --pairs 600 --seed 2 --held-out --out build/ownership/held_out.jsonl.gz

``--held-out`` takes the fifth of the relations that the other file lacks.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from training.marking import SUBJECT, VALUE
from training.ownership_passages import FILLERS, anaphor, bare, joined_sentences, write_facts, write_passage
from training.ownership_words import written_subject
from training.pairs import CONTRADICTED, SUPPORTED, Pair, digest, write_pairs
from training.relations import DIRECTED, RELATIONS, Relation

EVERY_HELD_OUT = 5
"""One relation of so many is kept back."""


def _two_relations(relation: Relation, other: Relation, rng: random.Random) -> tuple[str, list[tuple[str, str, bool]]]:
    """Write a passage in which each subject has two values; return it with pairs of subject, value and truth."""
    facts = write_facts(relation, rng)
    second = write_facts(other, rng)
    second.subjects, second.values = facts.subjects[:2], second.values[:2]
    facts.subjects, facts.values = facts.subjects[:2], facts.values[:2]
    parts = []
    for place in (0, 1):
        one, two = (
            rng.choice(relation.phrases).format(v=facts.values[place]),
            rng.choice(other.phrases).format(v=second.values[place]),
        )
        if rng.random() < 0.5:
            one, two = two, one
        pronoun = anaphor(relation.subject, rng)
        parts.append(
            facts.subjects[place]
            + " "
            + rng.choice([f"{one} and {two}", f"{one}. {pronoun} {two}", f"{one}, and {two}"])
        )
    if rng.random() < 0.5:
        parts = parts[::-1]
    cases = [
        (facts.subjects[0], facts.values[0], True),
        (facts.subjects[0], facts.values[1], False),
        (facts.subjects[0], second.values[0], False),
    ]
    return joined_sentences(parts), cases


def _marked(text: str, subject: str, value: str) -> str:
    for name, marker in ((value, VALUE), (subject, SUBJECT)):
        for form in (name, name[0].upper() + name[1:], bare(name)):
            text = text.replace(form, marker)
    return text.replace(f"the {SUBJECT}", SUBJECT).replace(f"The {SUBJECT}", SUBJECT)


def _claim(relation: Relation, rng: random.Random) -> str:
    if rng.random() < 0.25:
        text = rng.choice(relation.sentences).format(s=SUBJECT, v=VALUE)
    elif (form := rng.random()) < 0.05:
        text = f"{SUBJECT}: {VALUE}"
    elif form < 0.2:
        column = relation.column
        asked = [
            f"What is the {column} of {SUBJECT}?",
            f"{column.capitalize()} of {SUBJECT}?",
            f"Please tell me the {column} of {SUBJECT}.",
        ]
        text = f"{rng.choice(asked)} {VALUE}"
    else:
        text = f"{SUBJECT} {rng.choice(relation.phrases).format(v=VALUE)}"
    return text[0].upper() + text[1:] + rng.choice([".", ".", ""])


def write_ownership(count: int, seed: int, *, held_out: bool) -> Iterator[Pair]:
    """Generate pairs; half of them are supported.

    Args:
        count: number of pairs.
        seed: of the random choices.
        held_out: use the relations that are kept back, and only these.
    """
    rng = random.Random(seed)
    relations = [each for number, each in enumerate(RELATIONS) if (number % EVERY_HELD_OUT == 2) == held_out]
    directed = [each for number, each in enumerate(DIRECTED) if (number % EVERY_HELD_OUT == 2) == held_out]
    made = 0
    while made < count:
        for evidence, claim, true in _cases(relations, directed, rng):
            if SUBJECT not in evidence or VALUE not in evidence:
                continue
            made += 1
            yield Pair(
                id=f"{seed}-{made}",
                set="ownership",
                document=digest(evidence),
                evidence=evidence,
                claim=claim,
                label=SUPPORTED if true else CONTRADICTED,
                held_out=held_out,
            )


def _cases(
    relations: Sequence[Relation], directed: Sequence[tuple[tuple[str, ...], ...]], rng: random.Random
) -> list[tuple[str, str, bool]]:
    """Write a passage and return cases of marked passage, marked claim and truth."""
    kind = rng.random()
    if kind < 0.15:
        return list(_directed(rng.choice(directed), rng))
    relation = rng.choice(relations)
    claim = _claim(relation, rng)
    others = [each for each in relations if each.subject == relation.subject and each.value != relation.value]
    if kind < 0.3 and others:
        passage, truths = _two_relations(relation, rng.choice(others), rng)
        # As many right cases as wrong ones: one right case beside the one or two wrong ones.
        chosen = [truths[0], *truths[1:]] if rng.random() < 0.5 else truths[:2]
        cases = [(_marked(passage, subject, value), claim, true) for subject, value, true in chosen]
        return cases + cases[: len(cases) - 2]
    facts = write_facts(relation, rng)
    order = list(range(len(facts.subjects)))
    rng.shuffle(order)
    passage = write_passage(facts, order)
    return [(_marked(passage, facts.subjects[0], facts.values[place]), claim, place == 0) for place in (0, 1)]


def _directed(sides: Sequence[Sequence[str]], rng: random.Random) -> Iterator[tuple[str, str, bool]]:
    """Write who did what to whom, among three of a kind."""
    kind = rng.choice(["person", "company", "product", "city", "team"])
    names: list[str] = []
    while len(names) < 3:
        if (name := written_subject(kind, rng)) not in names:
            names.append(name)
    one, two, three = names
    turned = rng.random() < 0.4
    active, passive = (sides[1], sides[0]) if turned else (sides[0], sides[1])
    told = [f"{one} {rng.choice(active)} {two}"] if rng.random() < 0.6 else [f"{two} {rng.choice(passive)} {one}"]
    more = rng.random()
    if more < 0.35:
        told.append(f"{three} {rng.choice(active)} {one}")
    elif more < 0.6:
        told.append(f"{two} {rng.choice(active)} {three}")
    rng.shuffle(told)
    passage = joined_sentences(told) if rng.random() < 0.6 or len(told) < 2 else joined_sentences([", and ".join(told)])
    if rng.random() < 0.4:
        passage = f"{passage} {rng.choice(FILLERS)}"
    for subject, value, true in ((one, two, True), (two, one, False)):
        phrase = rng.choice(active)
        yield _marked(passage, subject, value), f"{SUBJECT} {phrase} {VALUE}.", true


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=8_000, help="number of pairs (default 8000)")
    parser.add_argument("--seed", type=int, default=1, help="of the random choices (default 1)")
    parser.add_argument("--held-out", action="store_true", help="use the relations that are kept back")
    parser.add_argument("--out", type=Path, required=True, help="file for the pairs")
    options = parser.parse_args(arguments)
    write_pairs(options.out, write_ownership(options.pairs, options.seed, held_out=options.held_out))


if __name__ == "__main__":
    main()
