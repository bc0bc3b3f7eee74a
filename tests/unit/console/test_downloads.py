"""The name of a file says what was chosen, in letters that are safe everywhere, and names no person who asked."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest

from workers.console.http.downloads import file_name
from workers.console.routes.answers import SearchQuery
from workers.console.routes.audit import AuditQuery
from workers.stores.queries.answer_queries import Period

NOVEMBER = Period(datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("chosen", "period", "name"),
    [
        (AuditQuery(tenant="acme"), NOVEMBER, "decisions-acme-2026-11-01-2026-11-30"),
        (
            AuditQuery(person="anna", state="rejected"),
            Period(None, datetime(2026, 11, 26, 10, 5, tzinfo=UTC)),
            "decisions-person-anna-state-rejected-until-2026-11-26T1005Z",
        ),
        (
            AuditQuery(q="salary of Erika", user="user-17", answer_id="a/1"),
            NOVEMBER,
            "decisions-one-answer-words-one-user-2026-11-01-2026-11-30",
        ),
        (
            SearchQuery(verdict="contradicted", seen=False),
            Period(datetime(2026, 11, 1, 1, tzinfo=timezone(timedelta(hours=1))), NOVEMBER.until),
            "decisions-verdict-contradicted-seen-false-2026-11-01-2026-11-30",
        ),
        (SearchQuery(model="Größe/3.5 β"), NOVEMBER, "decisions-model-Grosse-3-5-2026-11-01-2026-11-30"),
    ],
)
def test_a_name_has_the_filters_and_the_days(chosen: AuditQuery | SearchQuery, period: Period, name: str) -> None:
    assert file_name("decisions", chosen, period) == name


@pytest.mark.parametrize(
    "value", ['x"; filename="evil.exe', "../../etc/passwd", "a\r\nSet-Cookie: b", "日本語", "m" * 300]
)
def test_a_name_has_safe_letters_alone(value: str) -> None:
    chosen = AuditQuery.model_construct(tenant=value, person=value[:200], model=value[:200], state=value[:100])
    name = file_name("decisions", chosen, NOVEMBER)
    assert re.fullmatch(r"decisions-[A-Za-z0-9_-]+-2026-11-01-2026-11-30", name)
    assert len(name) < 200


def test_tenants_without_latin_letters_have_different_names() -> None:
    assert len({file_name("answers", SearchQuery(tenant=tenant), NOVEMBER) for tenant in ("日本", "中国")}) == 2
