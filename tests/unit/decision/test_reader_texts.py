"""Readers get warnings and notices in the language of their answer, or the texts of the settings."""

import string
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.answers import GeneratedAnswer
from schemas.enriched import Decision, ReleaseState
from schemas.grounding import GroundingReport
from schemas.review import ReviewDecision
from tests.unit.decision.test_decision import GATE, REPORT, replace
from workers.decision.finality import released_by
from workers.decision.reader_text.presentation import ReaderPolicy, present
from workers.decision.reader_text.reader_texts import ENGLISH, texts_for
from workers.decision.reader_text.texts_by_language import TEXTS
from workers.decision.release_events import review_request
from workers.evaluation.text.languages.language import known_language
from workers.review.decision_events import decided, withdrawal
from workers.settings import Settings

AT = datetime(2026, 11, 2, 8, 14, 6, tzinfo=UTC)
ANSWERS = {
    "en": "The museum is closed on Mondays, and it is open until six in the evening on all other days.",
    "de": "Das Museum ist montags geschlossen, und an allen anderen Tagen ist es bis achtzehn Uhr geöffnet.",
    "fr": "Le musée est fermé le lundi, et il est ouvert jusqu'à dix-huit heures les autres jours.",
    "es": "El museo está cerrado los lunes, y los demás días está abierto hasta las seis de la tarde.",
    "it": "Il museo è chiuso il lunedì, e gli altri giorni è aperto fino alle sei di sera.",
    "pt": "O museu está fechado às segundas-feiras, e nos outros dias não fecha antes das dezoito horas.",
    "nl": "Het museum is op maandag gesloten, en op alle andere dagen is het tot zes uur open.",
    "pl": "Muzeum jest zamknięte w poniedziałki, a w pozostałe dni jest otwarte do godziny osiemnastej.",
    "ru": "Музей закрыт по понедельникам, а в остальные дни открыт до шести часов вечера.",
    "ja": "美術館は月曜日が休館で、その他の日は午後六時まで開いています。",
    "zh": "博物馆星期一闭馆，其他日子开放到下午六点。",
}


def shown(language: str, state: ReleaseState, risk: Any = "high", policy: ReaderPolicy | None = None) -> str:
    """Return what readers get of an answer in a language."""
    answer = GeneratedAnswer(answer_id="a", query="?", answer=ANSWERS[language], completed_at=AT)
    grounding = GroundingReport(**REPORT, agent="grounding", hallucination_risk=risk)
    decision = Decision(state=state)
    return present(answer, None, grounding, None, decision, policy=policy or ReaderPolicy()).content


def test_every_language_has_every_text_with_its_places() -> None:
    assert set(TEXTS) == set(ANSWERS)
    for named in TEXTS.values():
        assert list(named) == list(TEXTS["en"])
        for name, text in named.items():
            places = {field for _, _, field, _ in string.Formatter().parse(text) if field}
            assert places == {field for _, _, field, _ in string.Formatter().parse(TEXTS["en"][name]) if field}
    for name in TEXTS["en"]:
        assert len({named[name] for named in TEXTS.values()}) >= len(TEXTS) - 1


@pytest.mark.parametrize("language", ANSWERS)
def test_readers_get_the_texts_of_their_language(language: str) -> None:
    texts = TEXTS[language]
    assert shown(language, "warned").endswith(f"\n\n> {texts['warning']}\n")
    assert shown(language, "warned", "medium").endswith(f"\n\n> {texts['note']}\n")
    assert shown(language, "fallback") == texts["fallback"]
    assert shown(language, "released", "low") == ANSWERS[language]


@pytest.mark.parametrize("language", ["de", "fr", "ja"])
def test_texts_are_in_the_language_that_they_are_listed_under(language: str) -> None:
    assert {known_language(TEXTS[language][name]) for name in ("fallback", "withdrawn")} == {language}


def decisions(language: str, policy: ReaderPolicy) -> dict[str, ReviewDecision]:
    """Return decisions on a held answer in a language, made of its request."""
    enriched = replace(GATE, risk="high").enriched()
    answer = enriched.answer.model_copy(update={"answer": ANSWERS[language]})
    held = enriched.model_copy(update={"answer": answer})
    request = review_request(held, AT, deadline_hours=1, reader=policy)
    assert request is not None
    values: dict[str, Any] = {"by": "anna", "profile": {}, "at": AT}
    return {
        "reject": decided(request, action="reject", reason="wrong_figure", **values),
        "warn": decided(request, action="approve", with_warning=True, **values),
        "withdraw": withdrawal(request, "d", by="anna", at=AT, reason="wrong_figure", comment=None),
    }


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_decisions_show_the_texts_of_the_language(language: str) -> None:
    found = {name: released_by(each).content or "" for name, each in decisions(language, ReaderPolicy()).items()}
    assert found["reject"] == TEXTS[language]["rejected"]
    assert found["withdraw"] == TEXTS[language]["withdrawn"]
    assert TEXTS[language]["warning"] in found["warn"]


def test_a_decision_keeps_the_texts_of_its_request_after_a_change_of_settings() -> None:
    before = decisions("de", ReaderPolicy(texts={"de": {"rejected": "Nicht freigegeben."}}))["reject"]
    again = ReviewDecision.from_bytes(before.to_bytes())
    assert released_by(again).content == "Nicht freigegeben."
    assert released_by(again) == released_by(before)


def test_a_decision_from_before_texts_had_languages_stays_as_it_was() -> None:
    rejected = decisions("de", ReaderPolicy())["reject"]
    assert rejected.releasable is not None
    old = rejected.model_copy(update={"releasable": rejected.releasable.model_copy(update={"notices": None})})
    assert "notices" not in old.releasable.model_dump()  # type: ignore[union-attr]
    assert released_by(old).content == ENGLISH.rejected


def test_settings_replace_texts_of_a_language_or_of_all() -> None:
    policy = ReaderPolicy(texts={"*": {"fallback": "Ask the desk."}, "de": {"fallback": "Fragen Sie am Empfang."}})
    assert shown("de", "fallback", policy=policy) == "Fragen Sie am Empfang."
    assert shown("fr", "fallback", policy=policy) == "Ask the desk."
    assert TEXTS["fr"]["warning"] in shown("fr", "warned", policy=policy)


def test_a_short_answer_has_the_language_of_its_question() -> None:
    assert texts_for("18 Uhr.", "Bis wann ist das Museum am Samstag geöffnet?").held == TEXTS["de"]["held"]
    assert texts_for("", "Jusqu'à quelle heure le musée est-il ouvert ?").held == TEXTS["fr"]["held"]
    assert texts_for(ANSWERS["en"], "Bis wann ist das Museum am Samstag geöffnet?") == ENGLISH
    assert texts_for("박물관은 월요일에 문을 닫습니다. 다른 날에는 오후 여섯 시까지 열려 있습니다.") == ENGLISH


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ({"xx": {"note": "N."}}, "language 'xx' is unknown; use one of en, de"),
        ({"de": {"notes": "N."}}, "text 'notes' of language 'de' is unknown; use one of note, warning"),
        ({"de": {"note": " "}}, "must be one line"),
        ({"*": {"note": "one\ntwo"}}, "must be one line"),
    ],
)
def test_unusable_texts_of_settings_are_refused(texts: dict[str, dict[str, str]], words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Settings(_env_file=None, release={"texts": texts})  # type: ignore[arg-type]
    assert words in str(caught.value)
