"""The outputs of foreign classifiers are read by the names of their labels, and never guessed."""

import pytest

from workers.inference.verifier_labels import outcome_columns, unsupported_column
from workers.inference.verifying import VerifierUnusable


@pytest.mark.parametrize(
    ("labels", "columns"),
    [
        (["entailment", "neutral", "contradiction"], [0, 2, 1]),
        (["CONTRADICTION", "ENTAILMENT", "NEUTRAL"], [1, 0, 2]),
        (["supported", "contradicted", "unsupported"], [0, 1, 2]),
        (["not_entailment", "entailment"], [1, None, 0]),
        (["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"], [0, 1, 2]),
        (["hallucinated", "consistent"], [1, None, 0]),
        (["refuted", "supported"], [1, 0, None]),
    ],
)
def test_labels_are_found_by_their_names(labels: list[str], columns: list[int | None]) -> None:
    assert outcome_columns(dict(enumerate(labels)), "a/model") == columns


@pytest.mark.parametrize(
    "labels",
    [
        ["LABEL_0", "LABEL_1"],
        ["positive", "negative"],
        ["entailment", "entailed"],
        ["neutral", "contradiction"],
        ["entailment", "neutral", "contradiction", "refuted"],
        ["entailment", "neutral", "other"],
    ],
)
def test_labels_that_do_not_say_what_is_supported_are_refused_with_the_remedy(labels: list[str]) -> None:
    with pytest.raises(VerifierUnusable, match=r"grounding\.verifier a/model has the labels .*id2label of its config"):
        outcome_columns(dict(enumerate(labels)), "a/model")


@pytest.mark.parametrize(
    ("labels", "column"),
    [(["LABEL_0", "LABEL_1"], 1), (["hallucinated", "supported"], 0), (["supported", "neutral"], 1)],
)
def test_of_tokens_the_label_of_what_is_not_supported_is_found(labels: list[str], column: int) -> None:
    assert unsupported_column(dict(enumerate(labels)), "a/model") == column


@pytest.mark.parametrize(
    "labels", [["B-PER", "O"], ["supported", "contradicted", "unsupported"], ["supported", "refuted"]]
)
def test_a_token_classifier_of_something_else_is_refused(labels: list[str]) -> None:
    with pytest.raises(VerifierUnusable, match=r"set grounding\.verifier"):
        unsupported_column(dict(enumerate(labels)), "a/model")
