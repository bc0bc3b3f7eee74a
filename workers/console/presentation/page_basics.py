"""Render templates as pages, and send unknown callers to the login page."""

import math
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import Depends, Request, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pydantic import BaseModel
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import HTMLResponse, RedirectResponse

from schemas.review import POLICY
from workers.console.http.problems import Problem, problem_response
from workers.console.identity.principal import Principal
from workers.console.identity.security import Bearer, Cookie, Require
from workers.console.presentation.audit.audit_evidence import contrary_words
from workers.console.presentation.code_meanings import CODE_MEANINGS
from workers.console.presentation.comparison_words import comparison_words, doubted_of_saved
from workers.console.presentation.evaluated_texts import is_empty
from workers.console.presentation.found_words import marked_words, passage_around
from workers.console.presentation.minima import beside, whole
from workers.console.presentation.plain_markdown import plain_text
from workers.console.presentation.rendering import citation_kind, citation_link, markdown, web_address
from workers.console.presentation.rule_words import rules_in_words, winning_words
from workers.console.presentation.verdicts import (
    DOUBTED,
    ESTIMATE,
    MEANINGS,
    OWN_VERDICTS,
    VERDICTS,
    score_words,
    shade_of,
)
from workers.console.presentation.words import (
    ACTIVE_TIME,
    MODES,
    REVIEWS_MEASURE,
    SCORES,
    SHOWN_BY,
    STATES,
    TEXT_SHOWN,
    WHAT_HAPPENED,
    level_of,
    review_event_words,
    words_of,
)
from workers.console.routes.overview import PERIODS
from workers.decision.reader_text.shown_text import shows_nothing
from workers.evaluation.citations.citation_finder import call_text
from workers.evaluation.text.empty_texts import is_blank
from workers.evaluation.text.visible_text import visible
from workers.review.reader_outcomes import change_of
from workers.review.review_errors import WITHDRAW, final_advice
from workers.review.review_models import USUAL_REASONS
from workers.settings.sections.scopes import Scope
from workers.stores.queries.answer_queries import cut_at_word

ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
GIVEN = {"final": "Decided", "second": "Independent review", "withdrawal": "Withdrawn"}
"""Words for the rulings of decisions that the page of a request shows."""
DECIDED = {"approve": "Approved", "reject": "Rejected", "correct": "Corrected", WITHDRAW: "Withdrawn"}
"""Words for final decisions."""

OUTCOMES = (
    ("approve", "If approved"),
    ("warn", "With a warning"),
    ("correct", "If corrected"),
    ("reject", "If rejected"),
    ("deadline", "If nobody decides"),
)
"""Decisions for which a reviewer sees what readers get."""

SHOWN_NOW = {
    "held": "Readers see nothing yet.",
    "released": "Readers already see the answer; your decision replaces it.",
    "warned": "Readers already see the answer with a warning; your decision replaces it.",
    "fallback": "Readers see a notice that the sources do not support an answer, until you decide.",
}
"""Words for what readers see before the decision, by state."""
SHOWN_EMPTY = SHOWN_NOW | {
    "released": "Readers have an empty answer; your decision replaces it.",
    "warned": "Readers have an empty answer with a warning; your decision replaces it.",
}
"""The same for an answer without any text."""

VIA = {"token": "by program", "session": "in the browser"}
"""Words for the ways by which somebody was shown an answer."""


def _score(value: float | None, *minima: float | None) -> str:
    return "–" if value is None else beside(value, *minima)


def _money(value: float | None) -> str:
    """Format an amount with two decimal places, and a small one with two significant digits."""
    if value is None:
        return "unknown"
    places = 2 if value == 0 or value >= 1 else max(2, 1 - math.floor(math.log10(value)))
    return f"{value:,.{places}f}"


def _time(value: Any) -> str:
    return value.strftime("%Y-%m-%d %H:%M:%S UTC") if value else "–"


def _lapse(span: timedelta) -> str:
    """Format a duration in its two largest units."""
    minutes = int(abs(span.total_seconds()) // 60)
    hours, days = minutes // 60, minutes // 1440
    if days:
        return f"{days} d {hours % 24} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"


def _behind(since: datetime, at: datetime, seconds: int) -> str:
    """Return the query part of a search for the answers of an interval of a chart, as far as the period reaches."""
    until = at + timedelta(seconds=seconds)
    return urlencode({"evaluated_since": since.isoformat(), "evaluated_until": until.isoformat()})


def _in_editor(end: int, text: str) -> int:
    """Return the place in a text field of a place in the text that it was filled with, both in code points.

    Browsers write each line end as one character, and leave out a line end at the beginning.
    """
    before = text[:end]
    return end - before.count("\r\n") - before.startswith(("\n", "\r"))


ENVIRONMENT.filters |= {
    "visible": visible, "plain": plain_text, "cut": cut_at_word, "marked_words": marked_words, "passage_around": passage_around, "score": _score, "whole": whole, "money": _money, "time": _time, "lapse": _lapse, "words": words_of, "event_words": review_event_words, "level": level_of, "markdown": markdown, "in_editor": _in_editor, "segment": lambda v: quote(v, safe=""),
}  # fmt: skip
ENVIRONMENT.globals |= {
    "VERDICTS": VERDICTS, "DOUBTED": DOUBTED, "MODES": MODES, "ACTIVE_TIME": ACTIVE_TIME, "REVIEWS_MEASURE": REVIEWS_MEASURE, "MEANINGS": MEANINGS, "ESTIMATE": ESTIMATE, "shade_of": shade_of, "score_words": score_words, "DECIDED": DECIDED, "GIVEN": GIVEN, "OUTCOMES": OUTCOMES, "is_blank": is_blank, "shows_nothing": shows_nothing, "is_empty": is_empty, "SHOWN_EMPTY": SHOWN_EMPTY, "change_of": change_of, "comparison_words": comparison_words, "doubted_of_saved": doubted_of_saved, "POLICY": POLICY, "SHOWN_NOW": SHOWN_NOW, "final_advice": final_advice, "VIA": VIA, "citation_kind": citation_kind, "citation_link": citation_link, "web_address": web_address, "PERIODS": list(PERIODS),
    "USUAL_REASONS": USUAL_REASONS, "behind": _behind, "WHAT_HAPPENED": WHAT_HAPPENED, "SHOWN_BY": SHOWN_BY, "TEXT_SHOWN": TEXT_SHOWN, "rules_in_words": rules_in_words, "winning_words": winning_words, "contrary_claims": contrary_words, "CODE_MEANINGS": CODE_MEANINGS, "call_text": call_text, "SCORES": SCORES, "STATES": STATES, "OWN_VERDICTS": OWN_VERDICTS, "OWN_VERDICT_WORDS": dict(OWN_VERDICTS) | {"not_checked": "not checked"},
}  # fmt: skip


def _icons() -> dict[str, Markup]:
    """Return the icons (Lucide, ISC licence) as elements that are hidden from screen readers."""
    found = {}
    for path in Path(__file__).with_name("icons").glob("*.svg"):
        drawn = path.read_text().partition('stroke-linejoin="round"\n>')[2]
        # The files belong to this package; nothing of an answer is in them.
        found[path.stem] = Markup(f'<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">{drawn}')  # noqa: S704
    return found


ENVIRONMENT.globals["ICONS"] = _icons()


class LoginNeeded(Exception):
    """An unknown caller asked for a page."""


class RequireOnPage(Require):
    """Dependency that admits callers with one of its scopes and sends unknown callers to the login page."""

    async def __call__(self, request: Request, bearer: Bearer, cookie: Cookie) -> Principal:
        """Return the authenticated caller if it has one of the scopes.

        Raises:
            LoginNeeded: a GET request of an unknown caller.
            Problem: 401, another request of an unknown caller; 403, the scope is missing; 429, the rate
                limit is reached.
        """
        try:
            return await super().__call__(request, bearer, cookie)
        except Problem as problem:
            if problem.status_code == 401 and request.method == "GET":
                raise LoginNeeded from problem
            raise


Reader = Annotated[Principal, Depends(RequireOnPage(Scope.READ))]
Reviewing = Annotated[Principal, Depends(RequireOnPage(Scope.REVIEW))]
ReviewingOrAuditing = Annotated[Principal, Depends(RequireOnPage(Scope.REVIEW, Scope.ADMIN))]
Auditing = Annotated[Principal, Depends(RequireOnPage(Scope.ADMIN))]
Anyone = Annotated[Principal, Depends(RequireOnPage(Scope.READ, Scope.REVIEW, Scope.ADMIN))]


def given_filters(request: Request, model: type[BaseModel]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the filters of an address as they were given, and those that filter, with days as times."""
    given = {name: request.query_params.get(name, "").strip() for name in model.model_fields}
    chosen = {name: value for name, value in given.items() if value}
    days = {
        name: f"{chosen[name]}T00:00:00Z" if len(chosen[name]) == 10 else chosen[name]
        for name in ("since", "until")
        if name in chosen
    }
    return given, chosen | days


def page(template: str, request: Request, principal: Principal | None, status: int = 200, **values: Any) -> Response:
    """Render a template as a response."""
    content = ENVIRONMENT.get_template(template).render(
        path=request.url.path, principal=principal, Scope=Scope, **values
    )
    return HTMLResponse(content, status)


def login_redirect(request: Request) -> Response:
    """Redirect to the login page, which returns to the requested page."""
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"/login?{urlencode({'next': wanted})}", 303)


def respond(request: Request, problem: StarletteHTTPException) -> Response:
    """Answer a problem with a page for browsers, else with a problem document."""
    if request.url.path.startswith(("/api/", "/v1/")) or "text/html" not in request.headers.get("Accept", ""):
        return problem_response(problem)
    title = HTTPStatus(problem.status_code).phrase
    principal: Principal | None = getattr(request.state, "principal", None)
    tenants = problem.members.get("tenants", []) if isinstance(problem, Problem) else []
    choices = {name: f"?{request.url.include_query_params(tenant=name).query}" for name in tenants}
    return page(
        "problem.html",
        request,
        principal,
        problem.status_code,
        title=title,
        detail=str(problem.detail),
        choices=choices,
    )
