"""Check what texts in other languages than English affirm and deny."""

import pytest

from workers.evaluation.contradictions.languages.polarity import is_contrary

CONTRARY = [
    ("de", "Ist Rauchen im Labor erlaubt?", "Rauchen ist im Labor nicht erlaubt.", True),
    ("de", "Dürfen Hunde mitgebracht werden?", "Hunde dürfen mitgebracht werden.", False),
    ("fr", "Le magasin est-il ouvert le dimanche ?", "Le magasin est fermé le dimanche.", True),
    ("es", "¿El museo abre los martes?", "El museo abre los lunes y cierra los martes.", True),
    ("pt", "O contrato pode ser cancelado?", "O contrato não pode ser cancelado.", True),
    ("it", "I cani sono ammessi in spiaggia?", "I cani non sono ammessi in spiaggia.", True),
    ("it", "Il museo è aperto la domenica?", "Il museo ne ha due: è aperto la domenica.", False),
    ("fr", "Le magasin est-il ouvert ?", "Le magasin n'est plus ouvert.", True),
    ("nl", "Is het zwembad open op maandag?", "Het zwembad is gesloten op maandag.", True),
    ("pl", "Czy psy są dozwolone w parku?", "Psy są dozwolone w parku.", False),
    ("ru", "Можно ли курить в здании?", "Курить в здании запрещено.", True),
    ("ja", "館内で喫煙できますか?", "館内での喫煙は禁止されています。", True),
    ("zh", "实验室内允许吸烟吗?", "实验室内不允许吸烟。", True),
]


@pytest.mark.parametrize(("language", "question", "evidence", "contrary"), CONTRARY)
def test_a_question_is_compared_with_what_the_evidence_affirms_or_denies(
    language: str, question: str, evidence: str, contrary: bool
) -> None:
    assert is_contrary(question, [evidence], language, is_question=True) is contrary


@pytest.mark.parametrize(
    ("language", "evidence", "true", "false"),
    [
        ("de", "Die Firma hat den Vertrag unterzeichnet.", "Die Firma hat den Vertrag unterzeichnet.", "Die Firma hat den Vertrag gekündigt."),
        ("fr", "Le conseil a approuvé le budget.", "Le conseil a approuvé le budget.", "Le conseil a rejeté le budget."),
        ("es", "La empresa compró el edificio.", "La empresa compró el edificio.", "La empresa vendió el edificio."),
        ("pl", "Firma sprzedała fabrykę.", "Firma sprzedała fabrykę.", "Firma kupiła fabrykę."),
        ("zh", "公司取消了合同。", "公司取消了合同。", "公司签署了合同。"),
        ("it", "Il giudice ha accolto il ricorso.", "Il giudice ha accolto il ricorso.", "Il giudice ha respinto il ricorso."),
        ("fr", "Le loyer a été abaissé en mai.", "Le loyer a baissé en mai.", "Le loyer est en hausse en mai."),
        ("pt", "A sauna pode ter no máximo 6 pessoas.", "A sauna pode ter até 6 pessoas, não mais de 6.", "A sauna pode ter no mínimo 6 pessoas."),
        ("ru", "Абонент может взять не более пяти книг.", "Абонент может взять максимум 5 книг.", "Абонент может взять минимум 5 книг."),
        ("zh", "每位读者最多可借5本书。", "每位读者借书不超过5本。", "每位读者至少要借5本书。"),
        ("nl", "Een helm is niet verplicht in de hal.", "Een helm hoeft niet in de hal.", "Een helm is verplicht in de hal."),
        ("de", "Die Prüfung ist freiwillig.", "Die Prüfung ist nicht vorgeschrieben.", "Die Prüfung ist verpflichtend."),
        ("ja", "館内での撮影は禁止されています。", "館内で撮影しないでください。", "館内で撮影できます。"),
        ("es", "Los menores de 4 años entran gratis.", "Los menores de 4 años no pagan.", "Los menores de 4 años tienen que pagar."),
        ("it", "I bambini entrano gratis.", "I bambini non pagano.", "I bambini devono pagare all'entrata a pagamento."),
        ("es", "El espectáculo de las cuatro se paga aparte.", "El espectáculo de las cuatro no está incluido.", "El espectáculo de las cuatro está incluido."),
        ("ja", "契約は更新しないことを決めた。", "契約は更新されず。", "契約は更新されます。"),
    ],
)  # fmt: skip
def test_opposites_of_one_matter_exclude_each_other(language: str, evidence: str, true: str, false: str) -> None:
    assert is_contrary(true, [evidence], language) is False
    assert is_contrary(false, [evidence], language) is True


@pytest.mark.parametrize(
    ("language", "claim", "evidence"),
    [
        ("pt", "Os cães entram no museu.", "Os cães entram no museu."),
        ("nl", "De winkel opent pas om tien uur.", "De winkel opent om tien uur."),
        ("pl", "Fundacja kupiła dom od gminy.", "Gmina sprzedała dom fundacji."),
        ("it", "Il museo apre il lunedì.", "Il museo apre tutti i giorni tranne il lunedì."),
        ("zh", "铸铁锅能放在电磁炉上。", "砂锅不能放在电磁炉上;铸铁锅则能。"),
    ],
)
def test_words_that_look_like_denials_are_none(language: str, claim: str, evidence: str) -> None:
    """Portuguese "no" is "in the", Dutch "pas" is "only", and who buys from a seller is sold to."""
    assert is_contrary(claim, [evidence], language) is not True


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
    assert is_contrary(claim, evidence, "de") is None


@pytest.mark.parametrize(
    ("language", "evidence", "true", "false"),
    [
        ("ru", "Здесь нельзя курить.", "Здесь курить запрещено.", "Здесь можно курить."),
        ("ru", "Здесь можно курить.", "Здесь разрешено курить.", "Здесь нельзя курить."),
        ("zh", "这里不可以拍照。", "这里不能拍照。", "这里可以拍照。"),
        ("zh", "价格不含早餐。", "价格不包含早餐。", "价格含早餐。"),
        ("ja", "ここで撮影は不可です。", "ここで撮影は禁止です。", "ここで撮影は可能です。"),
    ],
)
def test_a_word_that_forbids_and_denies_counts_once(language: str, evidence: str, true: str, false: str) -> None:
    assert is_contrary(true, [evidence], language) is False
    assert is_contrary(false, [evidence], language) is True


@pytest.mark.parametrize(
    ("language", "evidence", "false"),
    [
        ("de", "Nicht geimpfte Hunde dürfen nicht mitfahren.", "Nicht geimpfte Hunde dürfen mitfahren."),
        ("es", "Los billetes no reembolsables no se pueden devolver.", "Los billetes no reembolsables se pueden devolver."),
        ("it", "I biglietti non rimborsabili non si possono restituire.", "I biglietti non rimborsabili si possono restituire."),
        ("pt", "Bilhetes não reembolsáveis não podem ser devolvidos.", "Bilhetes não reembolsáveis podem ser devolvidos."),
        ("nl", "Niet-restitueerbare tickets kunnen niet worden geruild.", "Niet-restitueerbare tickets kunnen worden geruild."),
        ("ru", "Не зарегистрированные участники не могут голосовать.", "Не зарегистрированные участники могут голосовать."),
    ],
)  # fmt: skip
def test_the_denied_attribute_of_a_subject_does_not_deny_its_verb(language: str, evidence: str, false: str) -> None:
    assert is_contrary(evidence, [evidence], language) is False
    assert is_contrary(false, [evidence], language) is True


def test_two_denials_of_one_verb_are_one() -> None:
    assert is_contrary("Los perros no pueden entrar.", ["Los perros no pueden entrar nunca."], "es") is False


@pytest.mark.parametrize(
    ("evidence", "claim"),
    [
        (["O aparelho tem uma garantia de 3 years.", "A bateria e os filtros não estão abrangidos pela garantia."], "A bateria também está abrangida pela garantia de 3 years."),
        (["O curso dura 2 years na sede.", "O seguro e os livros não estão incluídos no curso."], "O seguro também está incluído no curso de 2 years."),
    ],
)  # fmt: skip
def test_a_figure_of_another_sentence_does_not_hide_a_denial(evidence: list[str], claim: str) -> None:
    assert is_contrary(claim, evidence, "pt") is True
    assert is_contrary(claim.replace("também está", "não está"), evidence, "pt") is False
