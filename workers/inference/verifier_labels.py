"""Map the outputs of a classifier to outcomes by the names of its labels."""

from collections.abc import Mapping, Sequence

from workers.inference.verifying import OUTCOMES, VerifierUnusable

NAMES: dict[str, frozenset[str]] = {
    "supported": frozenset({
        "supported", "support", "supports", "entailment", "entailed", "entails", "consistent", "faithful", "grounded",
        "attributable",
    }),
    "contradicted": frozenset({
        "contradicted", "contradiction", "contradicts", "contradictory", "refuted", "refutes",
    }),
    "unsupported": frozenset({
        "unsupported", "neutral", "notsupported", "notentailment", "notentailed", "inconsistent", "unfaithful",
        "ungrounded", "hallucination", "hallucinated", "baseless", "notenoughinfo",
    }),
}  # fmt: skip
"""Labels of models for natural language inference, fact checking and hallucination detection, in lower case,
letters and digits only."""
UNNAMED = {"label0": "supported", "label1": "unsupported"}
"""Default labels of token classifiers: 1 marks unsupported tokens, as in LettuceDetect."""


def outcome_columns(labels: Mapping[int, str], setting: str) -> list[int | None]:
    """Return the output columns of the probabilities of supported, contradicted and unsupported.

    Args:
        labels: names of a model's outputs by number, two or three of them.
        setting: name of the model in the settings, for the message.

    Returns:
        The column of each of ``OUTCOMES``, ``None`` for an outcome without a column.

    Raises:
        VerifierUnusable: a label is unknown, two labels mean the same outcome, or no label means supported.
    """
    found = _outcomes([labels[number] for number in sorted(labels)])
    if None in found or len(set(found)) < len(found) or "supported" not in found or len(found) not in (2, 3):
        described = ", ".join(f"{number}: {labels[number]}" for number in sorted(labels))
        raise VerifierUnusable(
            f"grounding.verifier {setting} has the labels {described}, of which none means supported, or a meaning is "
            "unknown; save a copy of the model, name the labels in id2label of its config.json (entailment, "
            "contradiction, neutral; or supported, unsupported), and set grounding.verifier to that folder"
        )
    return [found.index(outcome) if outcome in found else None for outcome in OUTCOMES]


def unsupported_column(labels: Mapping[int, str], setting: str) -> int:
    """Return the output column of a token classifier with the probability that a token is unsupported.

    Raises:
        VerifierUnusable: see :func:`outcome_columns`.
    """
    named = {number: UNNAMED.get(_bare(label), label) for number, label in labels.items()}
    column = outcome_columns(named, setting)[OUTCOMES.index("unsupported")]
    if column is None or len(labels) != 2:
        raise VerifierUnusable(
            f"grounding.verifier {setting} has {len(labels)} labels for tokens; a token classifier needs two, "
            "supported and unsupported (hallucinated); use another model, or set grounding.verifier to none"
        )
    return column


def _outcomes(labels: Sequence[str]) -> list[str | None]:
    return [next((outcome for outcome, names in NAMES.items() if _bare(label) in names), None) for label in labels]


def _bare(label: str) -> str:
    return "".join(letter for letter in label.lower() if letter.isalnum())
