"""Check what texts in other languages than English affirm and deny."""

import pytest

from workers.evaluation.facts.polarity import is_contrary

CONTRARY = [
    ("Ist Rauchen im Labor erlaubt?", "Rauchen ist im Labor nicht erlaubt.", True),
    ("Dürfen Hunde mitgebracht werden?", "Hunde dürfen mitgebracht werden.", False),
    ("Le magasin est-il ouvert le dimanche ?", "Le magasin est fermé le dimanche.", True),
    ("¿El museo abre los martes?", "El museo abre los lunes y cierra los martes.", True),
    ("O contrato pode ser cancelado?", "O contrato não pode ser cancelado.", True),
    ("I cani sono ammessi in spiaggia?", "I cani non sono ammessi in spiaggia.", True),
    ("Il museo è aperto la domenica?", "Il museo ne ha due: è aperto la domenica.", False),
    ("Le magasin est-il ouvert ?", "Le magasin n'est plus ouvert.", True),
    ("Is het zwembad open op maandag?", "Het zwembad is gesloten op maandag.", True),
    ("Czy psy są dozwolone w parku?", "Psy są dozwolone w parku.", False),
    ("Можно ли курить в здании?", "Курить в здании запрещено.", True),
    ("館内で喫煙できますか?", "館内での喫煙は禁止されています。", True),
    ("实验室内允许吸烟吗?", "实验室内不允许吸烟。", True),
]


@pytest.mark.parametrize(("question", "evidence", "contrary"), CONTRARY)
def test_a_question_is_compared_with_what_the_evidence_affirms_or_denies(
    question: str, evidence: str, contrary: bool
) -> None:
    assert is_contrary(question, [evidence], is_question=True) is contrary


@pytest.mark.parametrize(
    ("evidence", "true", "false"),
    [
        ("Die Firma hat den Vertrag unterzeichnet.", "Die Firma hat den Vertrag unterzeichnet.", "Die Firma hat den Vertrag gekündigt."),
        ("Le conseil a approuvé le budget.", "Le conseil a approuvé le budget.", "Le conseil a rejeté le budget."),
        ("La empresa compró el edificio.", "La empresa compró el edificio.", "La empresa vendió el edificio."),
        ("Firma sprzedała fabrykę.", "Firma sprzedała fabrykę.", "Firma kupiła fabrykę."),
        ("公司取消了合同。", "公司取消了合同。", "公司签署了合同。"),
    ],
)  # fmt: skip
def test_opposites_of_one_matter_exclude_each_other(evidence: str, true: str, false: str) -> None:
    assert is_contrary(true, [evidence]) is False
    assert is_contrary(false, [evidence]) is True


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Rauchen ist im Hof erlaubt.", ["Parken ist vor dem Tor verboten."]),
        ("Das Bad ist offen.", ["Das Bad ist offen.", "Das Bad ist geschlossen."]),
        ("", ["Das Bad ist offen."]),
        ("Das Bad ist offen.", []),
    ],
)
def test_there_is_no_result_without_a_clause_on_one_matter(claim: str, evidence: list[str]) -> None:
    assert is_contrary(claim, evidence) is None
