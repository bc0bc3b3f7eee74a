"""Test claims in other languages than English: what can be compared decides, and the rest is not checked."""

from datetime import UTC, datetime

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.grounding import GroundingFindings
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RETURNS = "Unused items may be sent back within 45 days of delivery. Refunds go to the original payment method."


def evaluated(answer: str, *contexts: str, query: str = "") -> GroundingFindings:
    chunks = [ContextChunk(chunk_id=str(number), content=text) for number, text in enumerate(contexts, 1)]
    made = GeneratedAnswer(answer_id="a", query=query or "?", answer=answer, contexts=chunks, completed_at=NOW)
    return evaluate_grounding(prepare_grounding(made), GroundingThresholds())


@pytest.mark.parametrize(
    "answer",
    [
        "Sie können die Ware nach der Lieferung noch 45 Tage lang zurückschicken.",
        "Vous pouvez renvoyer les articles dans les quarante-cinq jours après la livraison.",
        "Товар можно вернуть в течение сорока пяти дней после доставки.",
        "商品は到着から45日以内なら返品できます。",
    ],
)
def test_across_languages_words_are_not_checked_and_that_is_said(answer: str) -> None:
    findings = evaluated(answer, RETURNS)
    assert [claim.verdict for claim in findings.claims] == ["not_checked"]
    assert "words_not_compared" in [issue.type for issue in findings.issues]
    assert findings.hallucination_risk is None, "a low risk would be an assurance"
    assert findings.grounding_score is None


@pytest.mark.parametrize(
    "answer",
    [
        "Sie können die Ware nach der Lieferung noch 54 Tage lang zurückschicken.",
        "Vous pouvez renvoyer les articles dans les cinquante-quatre jours après la livraison.",
        "Товар можно вернуть в течение пятидесяти четырёх дней после доставки.",
        "商品は到着から54日以内なら返品できます。",
    ],
)
def test_across_languages_another_figure_is_noticed(answer: str) -> None:
    findings = evaluated(answer, RETURNS)
    assert [claim.verdict for claim in findings.claims] != ["not_checked"]
    assert findings.hallucination_risk in ("medium", "high")


def test_a_statement_in_other_words_is_not_checked_and_in_the_same_words_supported() -> None:
    source = "Die Karte kostet 127,50 € im Jahr und wird im Bürgerbüro ausgestellt."
    other = evaluated("Wer die Karte haben möchte, zahlt jährlich 127,50 Euro dafür.", source)
    same = evaluated("Die Karte kostet im Jahr 127,50 Euro.", source)
    assert [claim.verdict for claim in other.claims] == ["not_checked"]
    assert [claim.verdict for claim in same.claims] == ["supported"]
    assert same.hallucination_risk == "low"


def test_a_statement_with_nothing_of_the_source_stays_unsupported() -> None:
    findings = evaluated(
        "Der Bahnhof liegt neben einem großen Fußballstadion.", "Die Karte wird im Bürgerbüro ausgestellt."
    )
    assert [claim.verdict for claim in findings.claims] == ["unsupported"]


def test_english_in_other_words_stays_unsupported() -> None:
    findings = evaluated(
        "Whoever wants the pass pays a yearly fee of €127.50.", "The resident card costs €127.50 per annum."
    )
    assert "not_checked" not in [claim.verdict for claim in findings.claims]


@pytest.mark.parametrize(
    ("answer", "source", "is_noticed"),
    [
        ("Il dottore visita di giovedì, nel pomeriggio.", "Il dottore riceve il mercoledì pomeriggio.", True),
        ("Il dottore visita di mercoledì, nel pomeriggio.", "Il dottore riceve il mercoledì pomeriggio.", False),
        ("Le service reçoit le mercredi matin.", "Le service reçoit le public du lundi au vendredi matin.", False),
    ],
)
def test_a_day_that_the_source_does_not_name_is_noticed(answer: str, source: str, is_noticed: bool) -> None:
    assert bool(evaluated(answer, source).claims[0].mismatches) is is_noticed


def test_readers_see_the_passage_as_it_is_written() -> None:
    source = "Het contract eindigt op 12 oktober 2026."
    claim = evaluated("Het contract eindigt op 12.10.2026.", source).claims[0]
    assert claim.verdict == "supported"
    assert claim.evidence is not None
    assert claim.evidence.excerpt == source


@pytest.mark.parametrize(
    ("query", "source", "right", "wrong"),
    [
        (
            "O elevador funciona durante a noite?",
            "O elevador panorâmico não funciona entre as 22h e as 7h.",
            "Não, o elevador não funciona durante a noite, entre as 22h e as 7h.",
            "Sim, o elevador panorâmico funciona entre as 22h e as 7h.",
        ),
        (
            "Fährt die Fähre nachts?",
            "Die Fähre nach Borkum fährt nicht in der Nacht und an Feiertagen im Winter.",
            "Nein, die Fähre nach Borkum fährt nicht in der Nacht und an Feiertagen im Winter.",
            "Ja, die Fähre nach Borkum fährt in der Nacht und an Feiertagen im Winter.",
        ),
        (
            "¿Se admiten perros en el museo?",
            "En el museo no se admiten perros, ni siquiera en el patio interior del edificio.",
            "No, en el museo no se admiten perros, ni siquiera en el patio interior del edificio.",
            "Sí, en el museo se admiten perros.",
        ),
        (
            "Is de sauna in het weekend open?",
            "De sauna is in het weekend gesloten. De sauna is op vrijdag open.",
            "Nee, de sauna is in het weekend gesloten.",
            "Ja, de sauna is in het weekend open.",
        ),
    ],
)
def test_what_a_denial_goes_on_to_is_denied_with_it(query: str, source: str, right: str, wrong: str) -> None:
    assert "contradicted" not in [claim.verdict for claim in evaluated(right, source, query=query).claims]
    assert "contradicted" in [claim.verdict for claim in evaluated(wrong, source, query=query).claims]
