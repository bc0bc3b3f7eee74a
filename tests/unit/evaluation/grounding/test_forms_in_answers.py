"""Figures, days and cases in other forms: in whole answers the right one is not flagged, and its wrong twin is."""

import pytest

from tests.harness.whole_answers import is_warned_of
from workers.evaluation.contradictions.values.qualified_values import is_of_other_case

CASES: dict[str, list[tuple[str, str, str, str]]] = {
    "brackets": [
        ("Bake at 180 °C (160 °C fan) for 45–50 minutes.", "How hot?", "Bake for 45 to 50 minutes at 180 °C, or at 160 °C in a fan oven.", "Bake for 45 to 50 minutes at 160 °C, or at 180 °C in a fan oven."),
        ("Admission is EUR 12 (EUR 9 reduced).", "What does admission cost?", "Admission is EUR 12, and the reduced price is EUR 9.", "Admission is EUR 9, and the reduced price is EUR 12."),
        ("Rent: CHF 60 a day (CHF 45 for members).", "What does it cost?", "Members pay CHF 45 a day.", "Members pay CHF 60 a day."),
        ("Speed limit: 120 km/h (80 km/h with a trailer).", "How fast may I drive?", "With a trailer you may drive 80 km/h.", "With a trailer you may drive 120 km/h."),
        ("Steam for 5 minutes (8 minutes frozen).", "How long?", "Steam frozen dumplings for 8 minutes.", "Steam frozen dumplings for 5 minutes."),
    ],
    "cases of a list": [
        ("Keeps 3 days in the fridge or 3 months in the freezer.", "How long does it keep?", "You can freeze it for up to three months.", "You can freeze it for up to three weeks."),
        ("Keeps 3 days in the fridge or 3 months in the freezer.", "How long does it keep?", "It keeps for three months in the freezer.", "It keeps for three days in the freezer."),
        ("The ride takes 10 minutes by tram or 25 minutes on foot.", "How long does it take?", "On foot it takes 25 minutes.", "On foot it takes 10 minutes."),
        ("Add ¾ cup of sugar and ½ cup of milk.", "How much sugar?", "Add three quarters of a cup of sugar.", "Add half a cup of sugar."),
    ],
    "closing days": [
        ("開館時間：月曜日から金曜日 9:00～20:00、土曜日 9:00～17:00。日曜日および祝日は休館。", "月曜日は開いていますか。", "日曜日は休館です。", "月曜日は休館です。"),
        ("开放时间：周一至周五 9:00–20:00，周六 9:00–17:00。周日及节假日闭馆。", "周一开放吗？", "周日闭馆。", "周一闭馆。"),
        ("운영 시간: 월요일부터 금요일 9:00~20:00. 일요일과 공휴일은 휴관.", "월요일에 열어요?", "일요일은 휴관입니다.", "월요일은 휴관입니다."),
        ("Часы работы: понедельник–пятница 9:00–20:00. Воскресенье — выходной.", "Когда открыто?", "В воскресенье выходной.", "В понедельник выходной."),
        ("ساعات العمل: من الاثنين إلى الجمعة 9:00–20:00. المكتبة مغلقة يوم الأحد.", "هل المكتبة مفتوحة يوم الاثنين؟", "المكتبة مغلقة يوم الأحد.", "المكتبة مغلقة يوم الاثنين."),
        ("火曜日は定休日です。営業時間は水曜日から月曜日の11:00～22:00です。", "火曜日は営業していますか。", "火曜日は休みです。", "水曜日は定休日です。"),
        ("Horario: de lunes a viernes de 9:00 a 20:00. Cerrado los domingos.", "¿Cuándo abre?", "Los domingos está cerrado.", "Los lunes está cerrado."),
        ("Das Museum ist dienstags bis sonntags geöffnet. Die Bibliothek ist montags bis freitags geöffnet.", "Wann ist das Museum geöffnet?", "Das Museum ist montags geschlossen.", "Das Museum ist dienstags geschlossen."),
    ],
    "number words": [
        ("رسوم تجديد رخصة القيادة 120 درهما. مدة صلاحية الرخصة 5 سنوات.", "كم رسوم تجديد رخصة القيادة؟", "تبلغ رسوم تجديد رخصة القيادة 120 درهما، وتكون الرخصة صالحة لمدة خمس سنوات.", "تبلغ رسوم تجديد رخصة القيادة 210 دراهم، وتكون الرخصة صالحة لمدة عشر سنوات."),
        ("رسوم تجديد رخصة القيادة 120 درهما. مدة صلاحية الرخصة 5 سنوات.", "ما مدة صلاحية الرخصة؟", "تكون الرخصة صالحة لمدة خمس سنوات.", "تكون الرخصة صالحة لمدة عشر سنوات."),
        ("The permit costs 120 crowns. It is valid for 5 years.", "How long?", "The permit is valid for five years.", "The permit is valid for ten years."),
    ],
    "figures": [
        ("The error probability is 10^-4.", "How high is it?", "The error probability is 10⁻⁴.", "The error probability is 10⁻³."),
        ("The probability of rain is 0.3.", "How high is it?", "The probability of rain is 30 %.", "The probability of rain is 0.45."),
        ("Add ¾ cup of sugar.", "How much sugar?", "Add three quarters of a cup of sugar.", "Add half a cup of sugar."),
        ("The map is drawn at a scale of 1:500.", "Which scale?", "The map has a scale of 1:500.", "The map has a scale of 1:5,000."),
        ("Dilute the concentrate 1:100.", "How do I dilute it?", "Dilute the concentrate 1:100.", "Dilute the concentrate 1:1000."),
        ("ISBN 978-3-16-148410-0. Price EUR 24.", "Which price?", "The price is EUR 24.", "The price is EUR 42."),
    ],
    "times in words": [
        ("La visita empieza a las diez menos cuarto.", "¿Cuándo empieza?", "La visita empieza a las 9:45.", "La visita empieza a las 10:15."),
        ("O museu abre às 9h45.", "A que horas abre o museu?", "O museu abre às dez menos um quarto.", "O museu abre às dez e um quarto."),
        ("Le musée ouvre à 9h45.", "À quelle heure ouvre le musée ?", "Le musée ouvre à dix heures moins le quart.", "Le musée ouvre à dix heures et quart."),
        ("Het museum opent om kwart voor tien.", "Wanneer opent het museum?", "Het museum opent om 9.45 uur.", "Het museum opent om 10.15 uur."),
        ("Музей открывается в 9:45.", "Когда открывается музей?", "Музей открывается без четверти десять.", "Музей открывается в четверть одиннадцатого."),
        ("Muzeum otwiera się o 9:45.", "O której otwiera się muzeum?", "Muzeum otwiera się za piętnaście dziesiąta.", "Muzeum otwiera się piętnaście po dziesiątej."),
        ("博物馆上午九点三刻开门。", "博物馆几点开门？", "博物馆上午9:45开门。", "博物馆上午9:15开门。"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("source", "query", "right", "wrong"), [each for group in CASES.values() for each in group],
    ids=[f"{name}-{place}" for name, group in CASES.items() for place in range(len(group))],
)  # fmt: skip
def test_a_figure_belongs_to_its_case_in_any_form(source: str, query: str, right: str, wrong: str) -> None:
    assert not is_warned_of(right, query, source)
    assert is_warned_of(wrong, query, source)


def test_a_scaled_amount_is_that_of_no_other_case() -> None:
    source = ["Lemon risotto: 300 g rice, 120 g parmesan, 1 lemon."]
    assert is_of_other_case("Use 300 g of parmesan.", source)
    assert not is_of_other_case("Scaled up for six, that is 180 g of parmesan.", source)
    assert not is_of_other_case("Use 120 g of parmesan.", source)
