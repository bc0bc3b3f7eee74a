"""Read labelled answers: claims of real answers, segmented as in the worker.

| set | claims | kept for evaluation |
|---|---|---|
| ragtruth_train_slice, ragtruth_data2text_dev | spans say which are unsupported | folds by source; all of it where a model has not seen it |
| wice_tokens | spans; all have some | its dev and test splits |
| expertqa.claims, begin, factcheckgpt_stance, wice_claim | the answer is the claim | own test splits, half of the sources |
| summedits | sentences of edited summaries | half of the documents |
| clapnq_human, halueval_qa_slice | whole answers | all |

An edited summary that is wrong says in one or two sentences what no right summary of its document says: these are the
claims that are not supported, and the sentences of the right ones are those that are.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from training.pairs import NOT_SUPPORTED, SUPPORTED, RawPair, Spans, in_half
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.grounding.grounding_evaluator import checked_claims
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.text.structure.segmentation import segment
from workers.measurement.labelled_answers import LabelledRow, read_labelled
from workers.measurement.measured_answers import answer_of

SPANNED = ("ragtruth_train_slice", "ragtruth_data2text_dev")
"""Sets whose answers people marked; those without a mark have nothing wrong."""

TRAINED_IDS: dict[str, re.Pattern[str]] = {
    "begin": re.compile(r"-dev-"),
    "wice_tokens": re.compile(r"-train"),
    "wice_claim": re.compile(r"(?!)"),
}
"""Which rows of a set are trained on, by their names; of the others half of the sources."""

CLAIM_SETS = ("expertqa.claims", "begin", "factcheckgpt_stance", "wice_claim", "wice_tokens")


def read_spanned(path: Path) -> Iterator[RawPair]:
    """Read the checked claims of answers with human annotations; the caller sets ``held_out`` when it makes folds."""
    rows = read_labelled([path])
    for row in rows:
        for number, claim in enumerate(checked_claims(prepare_grounding(answer_of(row)))):
            spans = marked_in(row.answer, claim, row.spans or ())
            label = NOT_SUPPORTED if spans else SUPPORTED
            yield RawPair(
                f"{row.id}#{number}", row.set, row.contexts, claim.plain, label, True, claim.antecedent, spans or ()
            )


def marked_in(answer: str, claim: ExtractedClaim, spans: Iterable[tuple[int, int]]) -> Spans:
    """Convert spans of an answer to spans of a claim's plain text; use the whole claim where a mark is not found."""
    found = []
    for start, end in spans:
        start, end = max(start, claim.start), min(end, claim.end)
        if start >= end:
            continue
        place = claim.plain.find(answer[start:end].strip())
        found.append((place, place + len(answer[start:end].strip())) if place >= 0 else (0, len(claim.plain)))
    return tuple(found)


def read_claims(path: Path) -> Iterator[RawPair]:
    """Read sets whose answers are one claim each."""
    for row in read_labelled([path]):
        label = NOT_SUPPORTED if row.label else SUPPORTED
        spans = row.spans if row.label else ()
        yield RawPair(row.id, row.set, row.contexts, row.answer, label, not _is_trained(row), spans=spans)


def _is_trained(row: LabelledRow) -> bool:
    pattern = TRAINED_IDS.get(row.set)
    return bool(pattern.search(row.id)) if pattern else in_half(row.source)


def read_edited_summaries(path: Path) -> Iterator[RawPair]:
    """Read sentences of right and of wrong summaries of the same documents."""
    by_document: dict[str, list[LabelledRow]] = defaultdict(list)
    for row in read_labelled([path]):
        by_document[row.source].append(row)
    for source, rows in by_document.items():
        yield from _of_document(rows, held_out=not in_half(source))


def _of_document(rows: Sequence[LabelledRow], *, held_out: bool) -> Iterator[RawPair]:
    right = {text: None for row in rows if not row.label for text in _sentences(row.answer)}
    wrong = {text: None for row in rows if row.label for text in _sentences(row.answer) if text not in right}
    for label, texts in ((SUPPORTED, right), (NOT_SUPPORTED, wrong)):
        for number, text in enumerate(texts):
            identifier = f"{rows[0].source}-{label}-{number}"
            yield RawPair(identifier, rows[0].set, rows[0].contexts, text, label, held_out)


def _sentences(text: str) -> list[str]:
    return [sentence.text.strip() for sentence in segment(text) if len(sentence.text.split()) >= 4]
