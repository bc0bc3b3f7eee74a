"""Test that figures of other languages are written as English has them, and stay as they are elsewhere."""

import pytest

from workers.evaluation.text.languages.language import known_language
from workers.evaluation.text.languages.local_forms import local_forms
from workers.evaluation.text.languages.local_words import content_words

FORMS = (
    ("de", "Am 3. März um halb acht", "Am 3. march um 7:30 o'clock"),
    ("de", "1.234,56 Euro in zwei Wochen", "1234.56 euro in 2 weeks"),
    ("de", "anderthalb Stunden, 14.30 Uhr", "1.5 hours, 14:30"),
    ("nl", "dinsdag om half acht 's avonds", "tuesday om 19:30"),
    ("nl", "vijfentwintig dagen en 48 uur les", "25 days en 48 hours les"),
    ("fr", "le 1er mars 2024 à 14h30", "le 1 march 2024 à 14:30"),
    ("fr", "du lundi au mercredi", "du monday, tuesday, wednesday"),
    ("fr", "1,35 million de visiteurs, trois quarts d'heure", "1350000 visiteurs, 45 minutes"),
    ("nl", "twaalf euro vijftig", "12.50 euro"),
    ("es", "las dos camisas, unos quince días", "las 2 camisas, unos 15 days"),
    ("fr", "deux mille trois cents euros et 62,5 %", "2300 euro et 62.5 %"),
    ("es", "dos años y medio, a las 9 de la noche", "2.5 years, a las 21:00"),
    ("pt", "Segundo a lei, um ano e meio", "Segundo a lei, 1.5 years"),
    ("it", "alle ore 14.30, ventitré giorni", "alle ore 14:30, 23 days"),
    ("pl", "półtora kilograma do 12 marca 2026", "1.5 kilograms do 12 march 2026"),
    ("pl", "w poniedziałki, dwa tygodnie", "w monday, 2 weeks"),
    ("ru", "двадцать пять дней, в 7 вечера", "25 days, в 19:00"),
    ("ar", "خمسة عشر يوما", "15 days"),
    (
        "fr",
        "vingt et un mois ou quatre-vingt-un jours, deux ans et un mois",
        "21 months ou 81 days, 2 years et 1 months",
    ),
    ("it", "dura sei mesi, tu sei qui", "dura 6 months, tu sei qui"),
    ("pl", "trzydzieści jeden dni, jeden z nich", "31 days, jeden z nich"),
    ("ru", "двадцать один месяц, один месяц, один из них", "21 months, 1 months, один из них"),
    ("ar", "واحد وعشرون يوما، أحد عشر شهرا", "21 days، 11 months"),
    ("ar", "واحد من الأطباء", "واحد من الأطباء"),
    ("ko", "스물네 명입니다, 사개월 동안, 서른다섯 살", "24 명입니다, 4 months 동안, 35 살"),
    ("ko", "다섯 달입니다, 한국, 사원", "5 months 입니다, 한국, 사원"),
    ("ja", "午後3時30分", "15:30"),
    ("ja", "三割引で62万5,000円", "30%引で 625000円"),
    ("zh", "3.6亿元", "360000000 cny"),
    ("zh", "2024年9月1日起两年半", "2024-09-01 起 2.5 years"),
    ("ko", "9만 5천 원, 삼천오백 석", "95000 krw , 3500 석"),
    ("ko", "오후 3시 반, 1시간 30분", "15:30 , 1 hours 30 minutes"),
)


@pytest.mark.parametrize(("language", "text", "expected"), FORMS)
def test_figures_are_written_as_in_english(language: str, text: str, expected: str) -> None:
    assert " ".join(local_forms(text, language).split()) == expected


@pytest.mark.parametrize(
    "text", ["The pump runs once a day at 7,500 rpm.", "In 2024 once more.", "Version 1.200 of March"]
)
def test_english_stays_as_it_is(text: str) -> None:
    assert local_forms(text, "en") == text
    assert content_words(text, "en") == content_words(text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The board met in the Lisbon office of Inês Prado.", "en"),
        ("E22", None),
        ("La torre vieja mide 39 metros. ¿Cuánto mide la torre?", "es"),
        ("Freitags öffnet das Bürgerbüro um 9 Uhr.", "de"),
        ("Висота вежі — 69 метрів.", "uk"),
        ("Tornet har en höjd på 69 meter och det är byggt av sten.", "sv"),
        ("北辰構造が設計しました。", "ja"),
    ],
)
def test_the_language_of_a_text_is_known_by_its_small_words(text: str, language: str | None) -> None:
    assert known_language(text) == language


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("pl", "bilety ulgowe do skansenu", "biletów ulgowych w skansenie"),
        ("ru", "новый договор аренды", "нового договора об аренде"),
        ("ko", "매출은 지난해", "매출이 지난해는"),
        ("ja", "契約を更新する", "契約が更新された"),
    ],
)
def test_inflected_words_have_one_stem(language: str, one: str, other: str) -> None:
    assert content_words(one, language) == content_words(other, language)
