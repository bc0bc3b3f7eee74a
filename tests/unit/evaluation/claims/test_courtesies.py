"""A statement beside a courtesy is compared, and an answer of which nothing was compared has no low risk."""

from datetime import UTC, datetime

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.grounding import GroundingFindings
from workers.evaluation.claims.claim_extraction import extract_claims
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.text.structure.segmentation import segment
from workers.evaluation.thresholds import GroundingThresholds


def evaluated(query: str, context: str, answer: str) -> GroundingFindings:
    return evaluate_grounding(
        prepare_grounding(
            GeneratedAnswer(
                answer_id="a-1",
                query=query,
                answer=answer,
                contexts=[ContextChunk(chunk_id="c-1", content=context)],
                completed_at=datetime(2026, 1, 1, tzinfo=UTC),
            )
        ),
        GroundingThresholds(),
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("I'm sorry, your contract cannot be cancelled.", "your contract cannot be cancelled."),
        ("Unfortunately, the warranty has expired.", "the warranty has expired."),
        ("Thank you for asking, the fee is 30 euros.", "the fee is 30 euros."),
        ("Thank you for asking, parking is free.", "parking is free."),
        ("Hello, smoking is banned.", "smoking is banned."),
        ("I'm sorry – the pool is closed.", "the pool is closed."),
        ("I'm sorry, that is not possible.", "that is not possible."),
        ("I'm sorry to inform you that your claim was rejected.", "your claim was rejected."),
        ("I apologize for the delay, your parcel was lost.", "your parcel was lost."),
        ("If you have any questions, the office is closed on Mondays.", "the office is closed on Mondays."),
        ("I'm sorry, we do not ship to Canada.", "we do not ship to Canada."),
        ("Es tut mir leid, Ihr Vertrag kann nicht gekündigt werden.", "Ihr Vertrag kann nicht gekündigt werden."),
        ("Danke für Ihre Frage, das Bad ist geschlossen.", "das Bad ist geschlossen."),
        ("Désolé, votre contrat ne peut pas être résilié.", "votre contrat ne peut pas être résilié."),
        ("Lo siento, su contrato no se puede cancelar.", "su contrato no se puede cancelar."),
        ("Desculpe, o seu contrato não pode ser cancelado.", "o seu contrato não pode ser cancelado."),
        ("Mi dispiace, il contratto non può essere annullato.", "il contratto non può essere annullato."),
        ("Het spijt me, uw contract kan niet worden opgezegd.", "uw contract kan niet worden opgezegd."),
        ("Przykro mi, umowy nie można rozwiązać.", "umowy nie można rozwiązać."),
        ("К сожалению, договор нельзя расторгнуть.", "договор нельзя расторгнуть."),
        ("申し訳ございませんが、契約は解約できません。", "契約は解約できません。"),
        ("很抱歉，您的合同无法取消。", "您的合同无法取消。"),
        ("عذراً، لا يمكن إلغاء عقدك.", "لا يمكن إلغاء عقدك."),
        ("죄송합니다만 계약을 해지할 수 없습니다.", "계약을 해지할 수 없습니다."),
    ],
)
def test_a_statement_behind_a_courtesy_is_checked_without_it(text: str, plain: str) -> None:
    assert [(claim.kind, claim.plain) for claim in extract_claims(text, segment(text))] == [("factual", plain)]


@pytest.mark.parametrize(
    "text",
    [
        "Feel free to park in the fire lane.",
        "Sure, I can confirm that the warranty covers leaks.",
        "I cannot cancel your contract because the notice period has passed.",
        "The claim was rejected for insufficient evidence.",
        "The operator was unable to answer the call.",
        "The documents do not mention a fee, the service is free.",
        "Parking is free, which is not stated in the documents.",
        "Parking is free but this is not mentioned in the documents.",
        "Sorry voor het wachten, maar het zwembad gaat op zondag om negen uur dicht.",
        "I don't have the brochure here; the pool is closed in winter.",
        "Leider muss ich Ihnen mitteilen, dass die Garantie abgelaufen ist.",
    ],
)
def test_a_statement_beside_a_refusal_is_checked(text: str) -> None:
    assert "factual" in [claim.kind for claim in extract_claims(text, segment(text))]


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, I cannot help with that.",
        "I'm sorry, but the provided documents do not contain information about the fee.",
        "I'm sorry, this question is outside my scope.",
        "I'm sorry, that is not something I can help with.",
        "I'm sorry, that information is not available.",
        "I'm sorry, we cannot help you with that.",
        "I cannot answer this because the documents do not mention it.",
        "I can't help with that because it violates my guidelines.",
        "I'm sorry to hear that your dishwasher is leaking.",
        "I apologize for any inconvenience this may have caused.",
        "If you have any further questions, our team is happy to help.",
        "If you have any questions, please contact our support team.",
        "Feel free to contact us at any time.",
        "Hello, thank you for contacting us!",
        "The documents do not mention whether refunds are possible, how long they take, or if fees are charged.",
        "The price of the car, which was introduced in 2020, is not mentioned in the documents.",
        "Es tut mir leid, diese Frage kann ich nicht beantworten.",
        "Désolé, je ne suis pas en mesure de répondre à cette question.",
        "¡Hola!",
    ],
)
def test_a_plain_courtesy_or_refusal_is_not_checked(text: str) -> None:
    assert {claim.kind for claim in extract_claims(text, segment(text))} == {"meta"}
    assert evaluated("Is parking free?", "Parking costs 5 euros.", text).hallucination_risk == "low"


@pytest.mark.parametrize(
    ("query", "context", "false", "true"),
    [
        (
            "Can I cancel my contract?", "Contracts can be cancelled at any time.",
            "I'm sorry, your contract cannot be cancelled.", "Of course, your contract can be cancelled at any time.",
        ),
        (
            "Can I bring my dog?", "Dogs are not allowed in the cabins.",
            "I apologise for the inconvenience, dogs are allowed in the cabins.",
            "I apologise for the inconvenience, dogs are not allowed in the cabins.",
        ),
        (
            "La garantie couvre-t-elle la batterie ?", "La batterie n'est pas couverte par la garantie.",
            "Désolé, la batterie est couverte par la garantie.", "Désolé, la batterie n'est pas couverte par la garantie.",
        ),
        (
            "La garanzia copre la batteria?", "La batteria non è coperta dalla garanzia.",
            "Certo, la batteria è coperta dalla garanzia.", "Mi dispiace, la batteria non è coperta dalla garanzia.",
        ),
        (
            "Ile kosztuje parking?", "Parking kosztuje 20 złotych dziennie.",
            "Dziękuję za pytanie, parking kosztuje 30 złotych dziennie.",
            "Dziękuję za pytanie, parking kosztuje 20 złotych dziennie.",
        ),
        (
            "駐車場は無料ですか?", "駐車場は無料ではありません。",
            "申し訳ございませんが、駐車場は無料です。", "申し訳ございませんが、駐車場は無料ではありません。",
        ),
    ],
)  # fmt: skip
def test_a_false_statement_behind_a_courtesy_is_contradicted_and_its_twin_supported(
    query: str, context: str, false: str, true: str
) -> None:
    wrong, right = evaluated(query, context, false), evaluated(query, context, true)
    assert ([claim.verdict for claim in wrong.claims], wrong.hallucination_risk) == (["contradicted"], "high")
    assert ([claim.verdict for claim in right.claims], right.hallucination_risk) == (["supported"], "low")


@pytest.mark.parametrize(
    "answer",
    [
        "Of course!",
        "I'm sorry your contract cannot be cancelled.",
        "# Parking",
        "## References\n\n- Parking handbook\n",
    ],
)
def test_an_answer_of_which_nothing_was_compared_has_no_risk(answer: str) -> None:
    findings = evaluated("Is parking free?", "Parking costs 5 euros a day.", answer)
    assert (findings.hallucination_risk, findings.risk_score, findings.confidence_score) == (None, None, None)


@pytest.mark.parametrize(
    "remark",
    [
        "Got it.", "Understood.", "Okay, noted!", "Ah, I see.", "I see what you mean.", "My mistake.", "Oh, my bad!",
        "I misunderstood your question.", "Sorry, I misread that.", "I mixed them up.", "Sure, let me explain.",
        "Let me correct that.", "Let me check that for you.", "Let's go through it step by step.",
        "Let's take a closer look at it.", "Let's fix that.", "Happy to clarify.", "Glad that helped!",
        "I'm glad it worked!", "I hope she feels better soon.", "Get well soon!", "I hope your exam goes well!",
        "Have a great time in Munich!", "Good luck with your exam!", "Here's the difference.", "Here's what happened.",
        "Here is why.", "Thanks, that helps.", "That's a great question.",
    ],
)  # fmt: skip
def test_a_remark_of_a_conversation_states_nothing(remark: str) -> None:
    claims = extract_claims(f"{remark} The fee is 30 euros.", segment(f"{remark} The fee is 30 euros."))
    assert [claim.kind for claim in claims] == ["meta", "factual"]


@pytest.mark.parametrize(
    "statement",
    [
        "You're right.", "Exactly.", "No problem.", "Understood: the pool is open.", "My mistake, the fee is 30 euros.",
        "I see that the pool is open.", "Here's what happened: the pump failed.", "Let me explain why the pump failed.",
        "I hope you enjoy the free breakfast.", "Here's the difference: the second one is free.",
        "Let's use the second pump.", "Have a great time in the free sauna and the pool, which is open until 10.",
        "I misread the fee, which is 30 euros.", "Glad that the refund of 30 euros helped.",
    ],
)  # fmt: skip
def test_a_remark_that_agrees_or_states_something_is_compared(statement: str) -> None:
    assert "meta" not in {claim.kind for claim in extract_claims(statement, segment(statement))}
