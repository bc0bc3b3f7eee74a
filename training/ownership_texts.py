"""Make pairs about whose a value is from sentences of documents, by their parse.

A clause of a sentence with its subject and one of its values, and nothing else, is a supported claim ("Norex bought a
mill in 1997 for two million" gives "Norex bought 1997"). With another subject or another value of the document
in their place it is wrong. Both are marked as in ``training.ownership``.

    python -m training.ownership_texts --data ../shared/data --out build/ownership/texts.jsonl.gz
"""

import argparse
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from training.answers import read_claims
from training.marking import mark
from training.pairs import CONTRADICTED, SUPPORTED, Pair, digest, write_pairs
from workers.evaluation.clauses.parser import parse_together
from workers.evaluation.text.segmentation import segment

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

SETS = ("expertqa.claims", "factcheckgpt_stance", "wice_tokens")
"""Sets whose documents are read; their evaluated parts are left out."""
WINDOW = 4
"""Sentences of a document that are read together."""
MOST_OF_DOCUMENT = 6
"""Most pairs of a document."""
_INSIDE = frozenset(
    {"aux", "auxpass", "neg", "prep", "agent", "prt", "dobj", "attr", "acomp", "pobj", "npadvmod", "oprd"}
)


def ownership_of_texts(documents: Iterable[str], rng: random.Random) -> Iterator[Pair]:
    """Generate pairs, half of them supported, from English documents."""
    for document in documents:
        texts = [each.text.strip() for each in segment(document[:4_000])]
        texts = [text for text in texts if 20 < len(text) < 300]
        windows = [texts[start : start + WINDOW] for start in range(0, len(texts), WINDOW - 1)]
        made = 0
        for window in rng.sample(windows, min(len(windows), 4)):
            for pair in _of_window(window, rng):
                yield pair
                made += 1
            if made >= MOST_OF_DOCUMENT:
                break


def _of_window(sentences: Sequence[str], rng: random.Random) -> Iterator[Pair]:
    docs = parse_together(list(sentences))
    told = [(number, verb, subject, value) for number, doc in enumerate(docs) for verb, subject, value in _told(doc)]
    rng.shuffle(told)
    for number, verb, subject, value in told[:2]:
        claim = _reduced(verb, subject, value)
        own, other = _words(subject), _words(value)
        true = mark(claim, own, other, sentences)
        rivals = [
            (s, v)
            for n, w, s, v in told
            if (n, w.i) != (number, verb.i) and not _share(_words(s), own) and not _share(_words(v), other)
        ]
        found = []
        for rival_subject, rival_value in rivals:
            if _kind(rival_value) == _kind(value):
                found.append(mark(claim, own, _words(rival_value), sentences, shown=(own, other)))
            found.append(mark(claim, _words(rival_subject), other, sentences, shown=(own, other)))
        wrong = [each for each in found if each is not None]
        if true is None or not wrong:
            continue
        for pair, label in ((true, SUPPORTED), (rng.choice(wrong), CONTRADICTED)):
            identifier = digest(pair.evidence + pair.claim)
            yield Pair(identifier, "ownership_texts", digest(pair.evidence), pair.evidence, pair.claim, label, False)


def _told(doc: "Doc") -> "Iterator[tuple[Token, Span, Span]]":
    """Yield verbs with a subject and a value in their own clause."""
    chunks = {chunk.root.i: chunk for chunk in doc.noun_chunks}
    for token in doc:
        if token.dep_ in ("nsubj", "nsubjpass") and token.i in chunks and token.pos_ != "PRON":
            verb = token.head
            if any(child.dep_ == "neg" for child in verb.children):
                continue
            for inner in verb.subtree:
                if inner.i <= token.i or inner.pos_ in ("PRON", "DET") or not _in_clause(inner, verb):
                    continue
                if inner.i in chunks and _kind(chunks[inner.i]) != "noun":
                    yield verb, chunks[token.i], chunks[inner.i]
                elif inner.like_num and inner.dep_ == "pobj":
                    yield verb, chunks[token.i], doc[inner.i : inner.i + 1]


def _in_clause(token: "Token", verb: "Token") -> bool:
    while token.i != verb.i:
        if token.dep_ not in _INSIDE:
            return False
        token = token.head
    return True


def _reduced(verb: "Token", subject: "Span", value: "Span") -> str:
    path = {value.root.i}
    token = value.root
    while token.i != verb.i:
        path.add(token.i)
        token = token.head
    kept = sorted(
        {verb.i, *path, *range(subject.start, subject.end), *range(value.start, value.end)}
        | {child.i for child in verb.children if child.dep_ in ("aux", "auxpass", "prt", "acomp")}
    )
    return (
        "".join(
            verb.doc[place].text_with_ws if verb.doc[place].text_with_ws.endswith(" ") else verb.doc[place].text + " "
            for place in kept
        ).strip()
        + "."
    )


def _words(span: "Span") -> str:
    words = list(span)
    while words and (words[0].pos_ in ("DET", "PRON", "ADP") or words[0].dep_ == "det"):
        words = words[1:]
    numbers = [word for word in words if word.like_num]
    if numbers and numbers[0].i == words[0].i:
        return numbers[0].text
    return "".join(word.text_with_ws for word in words).strip()


def _share(one: str, two: str) -> bool:
    return bool(set(one.lower().split()) & set(two.lower().split())) or not one or not two


def _kind(span: "Span") -> str:
    if any(word.like_num for word in span):
        return "number"
    return "name" if span.root.pos_ == "PROPN" else "noun"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the labelled sets")
    parser.add_argument("--seed", type=int, default=1, help="of the choice of sentences (default 1)")
    parser.add_argument("--out", type=Path, required=True, help="file for the pairs")
    options = parser.parse_args(arguments)
    read = (pair for name in SETS for pair in read_claims(options.data / f"{name}.jsonl.gz") if not pair.held_out)
    documents = dict.fromkeys(context for pair in read for context in pair.contexts)
    write_pairs(options.out, ownership_of_texts(documents, random.Random(options.seed)))


if __name__ == "__main__":
    main()
