"""Check claims in other languages than English that drop a condition or an exception."""

import pytest

from workers.evaluation.contradictions.languages.local_conditions import drops_local_condition

PAIRS = [
    (
        "de",
        "Die Kaution wird erstattet, sofern der Tank voll ist.",
        "Die Kaution wird erstattet, auch wenn der Tank leer ist.",
    ),
    (
        "fr",
        "Ils sont exonérés à condition de déposer leur dossier avant mai.",
        "Ils sont exonérés quelle que soit la date du dossier.",
    ),
    (
        "es",
        "La fianza se devuelve siempre que el depósito esté lleno.",
        "La fianza se devuelve aunque el depósito no esté lleno.",
    ),
    ("it", "Si entra solo con la tessera.", "Si entra anche senza tessera."),
    ("nl", "De borg krijgt u terug mits de tank vol is.", "De borg krijgt u terug, ook als de tank niet vol is."),
    (
        "pt",
        "Há rede em todos os andares, com exceção do subsolo.",
        "Há rede em todos os andares, inclusive no subsolo.",
    ),
    ("pl", "Wejście możliwe tylko z biletem.", "Wejście możliwe nawet bez biletu."),
    ("ru", "Возврат возможен только при наличии чека.", "Возврат возможен даже без чека, независимо от чека."),
    ("fr", "Tous les services sont ouverts, sauf l'urbanisme.", "Tout est ouvert, même l'urbanisme."),
]


@pytest.mark.parametrize(("language", "evidence", "wrong"), PAIRS)
def test_a_dropped_condition_is_noticed_and_the_condition_itself_is_not(
    language: str, evidence: str, wrong: str
) -> None:
    assert drops_local_condition(wrong, [evidence], language)
    assert not drops_local_condition(evidence, [evidence], language)


@pytest.mark.parametrize(
    ("language", "evidence", "claim"),
    [
        ("de", "Die Kaution wird erstattet, sofern der Tank voll ist.", "Auch die Miete ist fällig."),
        (
            "es",
            "La piscina abre todos los días salvo en Navidad. Los domingos, solo por la mañana.",
            "Los domingos abre, aunque solo por la mañana.",
        ),
        ("it", "Si entra solo con la tessera.", ""),
    ],
)
def test_other_claims_drop_no_condition(language: str, evidence: str, claim: str) -> None:
    assert not drops_local_condition(claim, [evidence], language)
