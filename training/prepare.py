"""Make training and evaluation pairs out of the labelled sets.

    python -m training.prepare --data ../shared/data --out build/verifier

Writes ``train.jsonl.gz``, ``held_out.jsonl.gz`` and ``answers.jsonl.gz`` (the claims of whole answers, for which folds
are made later) with a table of sets and what a claim-only model makes of each. Some 15 minutes on two cores, most of
it embedding, by which the windows are chosen; sets that are done (``sets/``) and
would be the same are not made again.
"""

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from training.answers import CLAIM_SETS, SPANNED, read_claims, read_edited_summaries, read_spanned
from training.bias import claim_only_probabilities, weights
from training.entailment import SETS, read_entailment
from training.generated import generated
from training.pairs import SUPPORTED, Pair, RawPair, digest, read_pairs, write_pairs
from training.records import written_records
from training.windows import windowed
from workers.evaluation.facts.evidence_units import record_values
from workers.evaluation.trees import Floats

MOST_PAIRS: dict[str, int] = {
    "snli_devtest": 6_000,
    "cad_snli": 6_000,
    "breaking_nli": 1_600,
    "negation_nli": 2_500,
    "begin": 2_000,
    "generated": 9_000,
    "records": 6_000,
}
"""Most training pairs of a set; others are taken whole."""
MOST_HELD_OUT = 500
"""Most evaluation pairs of a set."""
SHINGLE = 13
"""Words in a row by which two documents count as one. Source: decontamination of GPT-3's training sets."""

_WORD = re.compile(r"\w+")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the labelled sets, with entailment/ in it")
    parser.add_argument("--out", type=Path, required=True, help="folder for the result")
    parser.add_argument("--seed", type=int, default=1, help="of the choice of pairs (default 1)")
    options = parser.parse_args(arguments)
    rng = random.Random(options.seed)

    def made(name: str, raw: Iterable[RawPair]) -> list[Pair]:
        raw = list(raw)
        kept = options.out / "sets" / f"{name}-{_recipe(raw)}.jsonl.gz"
        if not kept.exists():
            write_pairs(kept, _windowed(name, raw))
        return list(read_pairs(kept))

    def _windowed(name: str, raw: Iterable[RawPair]) -> list[Pair]:
        # Pairs over one document stand together, so that its sentences are read from the cache.
        ordered = sorted(raw, key=lambda pair: pair.document)
        return list(windowed(track(ordered, name, console=Console(stderr=True))))

    answers = made("answers", (pair for name in SPANNED for pair in read_spanned(_path(options.data, name))))
    write_pairs(options.out / "answers.jsonl.gz", answers)
    sets: dict[str, list[RawPair]] = {name: list(read_entailment(options.data / "entailment", name)) for name in SETS}
    sets |= {name: list(read_claims(_path(options.data, name))) for name in CLAIM_SETS}
    sets["summedits"] = list(read_edited_summaries(_path(options.data, "summedits")))
    known = _evaluated(sets, options.data)
    dropped = Counter[str]()
    for name, read in sets.items():
        kept = [pair for pair in read if pair.held_out or not _is_known(pair, known)]
        dropped[name] = len(read) - len(kept)
        sets[name] = kept
    documents = [
        pair.contexts
        for name in (
            "expertqa.claims",
            "begin",
            "factcheckgpt_stance",
            "wice_tokens",
            "summedits",
            "foolmetwice_devtest",
        )
        for pair in {each.document: each for each in sets[name] if not each.held_out}.values()
    ]
    sets["generated"] = list(generated("generated", documents, options.seed, MOST_PAIRS["generated"]))
    sets["records"] = list(written_records(options.seed, MOST_PAIRS["records"] // 6))
    train: list[Pair] = []
    held_out: list[Pair] = []
    print(f"{'set':<24}{'train':>8}{'held out':>10}{'dropped':>9}{'claim only':>12}{'weighted':>10}")
    for name, raw in sets.items():
        chosen = balanced([pair for pair in raw if not pair.held_out], MOST_PAIRS.get(name, 10**9), rng)
        kept_back = balanced([pair for pair in raw if pair.held_out], MOST_HELD_OUT, rng)
        pairs = made(name, [*chosen, *kept_back])
        trained, before, after = _weighted([pair for pair in pairs if not pair.held_out])
        train += trained
        held_out += [pair for pair in pairs if pair.held_out]
        print(
            f"{name:<24}{len(trained):>8}{len(pairs) - len(trained):>10}{dropped[name]:>9}{before:>12.3f}{after:>10.3f}",
            flush=True,
        )
    write_pairs(options.out / "train.jsonl.gz", train)
    write_pairs(options.out / "held_out.jsonl.gz", held_out)


def balanced(pairs: Sequence[RawPair], most: int, rng: random.Random) -> list[RawPair]:
    """Balance supported pairs with others, at most ``most`` in all; keep a set with only one verdict unchanged."""
    groups: dict[bool, list[RawPair]] = defaultdict(list)
    for pair in pairs:
        groups[pair.label == SUPPORTED].append(pair)
    fewest = min((len(group) for group in groups.values()), default=0) if len(groups) > 1 else most
    return [
        pair
        for group in groups.values()
        for pair in rng.sample(group, min(len(group), fewest, max(1, most // len(groups))))
    ]


def _weighted(pairs: Sequence[Pair]) -> tuple[list[Pair], float, float]:
    """Return weighted pairs, and the AUROC of a claim-only model without and with the weights."""
    if not pairs:
        return [], 0.5, 0.5
    supported = np.array([pair.is_supported for pair in pairs])
    guesses = claim_only_probabilities([pair.claim for pair in pairs], supported, [pair.document for pair in pairs])
    own = weights(guesses, supported)
    weighted = [replace(pair, weight=round(float(weight), 3)) for pair, weight in zip(pairs, own, strict=True)]
    areas = [_area(guesses, supported, each) for each in (np.ones(len(own)), own)]
    return weighted, areas[0], areas[1]


def _area(scores: Floats, labels: NDArray[np.bool_], own: Floats) -> float:
    from sklearn.metrics import roc_auc_score

    both = labels.any() and not labels.all()
    return float(roc_auc_score(labels, scores, sample_weight=own)) if both else 0.5


def _evaluated(sets: dict[str, list[RawPair]], data: Path) -> frozenset[str]:
    """Return the digests of all runs of ``SHINGLE`` words in evaluation data: claims and documents of answers."""
    found: set[str] = set()
    for pairs in sets.values():
        for pair in pairs:
            if pair.held_out:
                # Short claims come in many sets ("A man sleeps."): they tell nothing without their document.
                found.update(_long_shingles(pair.claim))
                found.update(_of_all(pair.contexts))
    for name in (*SPANNED, "clapnq_human", "halueval_qa_slice"):
        for pair in read_claims(_path(data, name)):
            found.update((*_of_all(pair.contexts), *_long_shingles(pair.claim)))
    return frozenset(found)


def _is_known(pair: RawPair, known: frozenset[str]) -> bool:
    return any(shingle in known for shingle in (*_long_shingles(pair.claim), *_of_all(pair.contexts)))


def _of_all(texts: Iterable[str]) -> Iterator[str]:
    return (shingle for text in texts for shingle in _shingles(text))


def _long_shingles(claim: str) -> Iterator[str]:
    return _shingles(claim) if len(_WORD.findall(claim)) >= SHINGLE else iter(())


def _recipe(pairs: Sequence[RawPair]) -> str:
    """Return the digest of the windows' inputs; other pairs, documents or splits give another file."""
    return digest("\n".join(f"{pair.id} {pair.document} {pair.label} {pair.held_out}" for pair in pairs))


def _shingles(text: str) -> Iterator[str]:
    if record_values(text):
        # All records of one kind share the names of their fields: two are the same where all of them is.
        yield digest(text)
        return
    words = [word.lower() for word in _WORD.findall(text)]
    if len(words) < SHINGLE:
        yield digest(" ".join(words))
    for start in range(len(words) - SHINGLE + 1):
        yield digest(" ".join(words[start : start + SHINGLE]))


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}.jsonl.gz"


if __name__ == "__main__":
    main()
