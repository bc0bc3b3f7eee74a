"""Who may do what, and what is refused before anybody looks at it."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from schemas.enriched import EnrichedAnswer
from tests.harness.console import EVERYTHING, ConsoleThread, secret
from workers.console.app import SUBJECTS, create_app
from workers.console.http.middleware import SECURITY_HEADERS
from workers.console.identity.security import Require
from workers.console.identity.sessions import COOKIE, make_cookie, token_name
from workers.settings import ConsoleSettings, Settings
from workers.settings.sections.scopes import Scope

OPEN = {("GET", "/healthz"), ("GET", "/readyz"), ("POST", "/api/session"), ("GET", "/login")}
"""Routes for anybody."""
ANY_TOKEN = {("GET", "/api/session"), ("DELETE", "/api/session")}
"""Routes for anybody who is known."""


def routes() -> Iterator[tuple[str, str, frozenset[Scope]]]:
    """Every route with the scopes of which it asks for one."""
    for route in (route for subject in SUBJECTS for route in subject.router.routes):
        if isinstance(route, APIRoute):
            scopes = [each.call.scopes for each in _dependencies(route.dependant) if isinstance(each.call, Require)]
            assert len(scopes) <= 1, route.path
            for method in route.methods:
                yield method, route.path, frozenset(scopes[0]) if scopes else frozenset()


def _dependencies(dependant: Any) -> Iterator[Any]:
    for each in dependant.dependencies:
        yield each
        yield from _dependencies(each)


def filled(path: str) -> str:
    """A path with something in its places."""
    return re.sub(r"\{(\w+)(:path)?\}", r"\1", path)


def test_every_route_asks_for_one_scope_or_is_known_to_be_open(console: ConsoleThread) -> None:
    document = console.client(None).get("/api/openapi.json").json()
    table = {(method, path): scopes for method, path, scopes in routes()}
    assert {path.replace(":path", "") for _, path in table} >= set(document["paths"])
    assert {route for route, scopes in table.items() if not scopes} == OPEN | ANY_TOKEN
    of_auditors = {("GET", "/api/reviews/disagreements"), ("GET", "/queue/disagreements")}
    assert {route for route, scopes in table.items() if len(scopes) > 1} == {("GET", "/"), *of_auditors}
    assert all(table[route] == {Scope.REVIEW, Scope.ADMIN} for route in of_auditors)
    assert frozenset().union(*table.values()) == set(Scope)


def test_each_route_lets_in_its_scope_and_no_other(console: ConsoleThread) -> None:
    clients = {scope: console.client(scope.value) for scope in Scope}
    nobody = console.client(None)
    for method, path, needed in routes():
        if (method, path) in OPEN:
            continue
        page = not path.startswith("/api")
        refused = nobody.request(method, filled(path))
        assert refused.status_code == (303 if page and method == "GET" else 401), path
        for scope, client in clients.items():
            status = client.request(method, filled(path)).status_code
            allowed = not needed or scope in needed
            # 404, 409 or 422 is what who is let in is told of a request that makes no sense.
            assert (status not in (401, 403)) is allowed, f"{method} {path} with scope {scope}: {status}"


def test_what_is_refused_is_told_as_a_problem(console: ConsoleThread) -> None:
    client = console.client("read")
    for response in (
        console.client(None).get("/api/answers"),
        client.get("/api/audit/citations"),
        client.get("/api/nothing"),
        client.put("/api/answers"),
        client.get("/api/answers", params={"limit": "many"}),
    ):
        assert response.headers["Content-Type"] == "application/problem+json"
        document = response.json()
        assert document["status"] == response.status_code
        assert document["title"]
        assert document["detail"]
    assert [field["field"] for field in document["fields"]] == ["query.limit"]


@pytest.mark.parametrize("token", ["x", secret(EVERYTHING)[:-1], secret(EVERYTHING) + "x", "ä" * 20])
def test_a_token_that_is_almost_right_is_wrong(console: ConsoleThread, token: str) -> None:
    with httpx.Client(base_url=console.url) as client:
        header = f"Bearer {token}".encode()
        assert client.get("/api/answers", headers={b"Authorization": header}).status_code == 401
        assert client.post("/api/session", json={"token": token}).status_code == 401


def test_a_token_of_one_tenant_sees_nothing_of_others(console: ConsoleThread, stored: list[EnrichedAnswer]) -> None:
    mine = console.client("acme")
    other = next(answer for answer in stored if answer.citations and answer.citations.citations)
    assert other.tenant != "acme"
    assert other.citations
    assert mine.get("/api/answers").json()["items"] == []
    assert mine.get(f"/api/answers/{other.answer_id}").status_code == 404
    assert mine.get(f"/api/citations/{other.citations.citations[0].citation_id}").status_code == 404
    for path in (
        "/api/answers",
        "/api/overview",
        "/api/memory",
        "/api/audit/citations",
        "/api/audit/decisions",
        "/api/audit/accesses/export",
        "/audit/decisions",
        f"/api/answers/{other.answer_id}",
    ):
        refused = mine.get(path, params={"tenant": other.tenant, "q": "x"})
        assert refused.status_code == 403, path
    event = {
        "answer_id": other.answer_id, "tenant": other.tenant, "kind": "explicit", "explicit": {"vote": "down"},
        "occurred_at": "2026-11-02T00:00:00Z",
    }  # fmt: skip
    assert mine.post("/api/feedback", json={"events": [event]}).status_code == 403
    assert mine.post(f"/api/answers/{other.answer_id}/vote", json={"vote": "down"}).status_code == 404


# ---------------------------------------------------------------- sessions


@pytest.fixture
def browser(console: ConsoleThread) -> Iterator[httpx.Client]:
    """A client that is logged in as a browser is."""
    with httpx.Client(base_url=console.url) as client:
        told = client.post("/api/session", json={"token": secret(EVERYTHING)}).raise_for_status().json()
        client.headers["X-CSRF-Token"] = told["csrf"]
        yield client


def test_a_session_reads_and_writes_until_it_is_ended(browser: httpx.Client) -> None:
    cookie = browser.cookies.jar.__iter__().__next__()
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert cookie.get_nonstandard_attr("SameSite") == "lax"
    assert browser.get("/api/answers").status_code == 200
    assert browser.post("/api/feedback", json={"events": []}).status_code == 422
    assert browser.delete("/api/session").status_code == 204
    assert browser.get("/api/answers").status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"X-CSRF-Token": ""},
        {"X-CSRF-Token": "x"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
    ],
    ids=str,
)
def test_another_site_cannot_write_with_a_session(browser: httpx.Client, headers: dict[str, str]) -> None:
    assert browser.post("/api/feedback", json={"events": []}, headers=headers).status_code == 403
    assert browser.delete("/api/session", headers=headers).status_code == 403


def test_another_site_cannot_log_somebody_in(console: ConsoleThread) -> None:
    with httpx.Client(base_url=console.url) as client:
        body = {"token": secret(EVERYTHING)}
        response = client.post("/api/session", json=body, headers={"Sec-Fetch-Site": "cross-site"})
        assert response.status_code == 403
        assert COOKIE not in response.cookies


def test_a_session_ends_with_its_time_and_cannot_be_made_up(console: ConsoleThread) -> None:
    guard = create_app(console.resources).state.guard
    digest, _ = guard.tokens.by_name(EVERYTHING)
    now = console.resources.now()

    def status(cookie: str) -> int:
        with httpx.Client(base_url=console.url, cookies={COOKIE: cookie}) as client:
            return client.get("/api/answers").status_code

    good = make_cookie(EVERYTHING, digest, now, timedelta(hours=1))
    assert status(good) == 200
    assert status(make_cookie(EVERYTHING, digest, now - timedelta(hours=2), timedelta(hours=1))) == 401
    assert status(make_cookie(EVERYTHING, b"another token", now, timedelta(hours=1))) == 401
    assert status(make_cookie("admin", digest, now, timedelta(hours=1))) == 401
    head, _, tail = good.partition(".")
    for forged in (
        head,
        f"{head}.",
        f".{tail}",
        f"{tail}.{head}",
        "e30.e30",
        "bnVsbA.e30",
        f"{head}.{tail[:-2]}AA",
        "x" * 5_000,
    ):
        assert status(forged) == 401, forged
    assert token_name("ä.ä") is None


# ---------------------------------------------------------------- sizes, rates, headers


def test_a_body_over_the_limit_is_refused_before_it_is_parsed(console: ConsoleThread) -> None:
    limit = console.settings.console.max_body_bytes
    client = console.client()
    claimed = client.post("/api/feedback", content=b"[" * (limit + 1), headers={"Content-Type": "application/json"})
    assert claimed.status_code == 413

    def pieces() -> Iterator[bytes]:
        for _ in range(limit // 100_000 + 1):
            yield b"[" * 100_000

    streamed = client.post("/api/feedback", content=pieces(), headers={"Content-Type": "application/json"})
    assert streamed.status_code == 413
    assert streamed.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b'{"events": [{"answer_id": "\\ud800"}]}', b"[" * 100_000, b'{"events": NaN}', b"\xff\xfe", b"1e999"],
    ids=repr,
)
def test_what_is_no_json_is_told_and_harms_nothing(console: ConsoleThread, content: bytes) -> None:
    response = console.client().post("/api/feedback", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == 422
    assert response.headers["Content-Type"] == "application/problem+json"


def test_too_many_requests_and_wrong_tokens_are_slowed_down(console: ConsoleThread) -> None:
    settings = console.settings.console.model_copy(update={"requests_per_minute": 3, "failures_per_minute": 2})
    resources = console.resources
    original, resources.settings = resources.settings, resources.settings.model_copy(update={"console": settings})
    try:
        transport = httpx.ASGITransport(create_app(resources))
    finally:
        resources.settings = original

    async def statuses(token: str, count: int) -> list[int]:
        async with httpx.AsyncClient(transport=transport, base_url="http://console") as client:
            found = []
            for _ in range(count):
                response = await client.get("/api/session", headers={"Authorization": f"Bearer {token}"})
                found.append(response.status_code)
                if response.status_code == 429:
                    assert 1 <= int(response.headers["Retry-After"]) <= 60
            return found

    assert console.call(statuses(secret("read"), 5)) == [200, 200, 200, 429, 429]
    assert console.call(statuses("wrong", 4)) == [401, 401, 429, 429]
    # Who shares an address with somebody who guesses is not locked out.
    assert console.call(statuses(secret("admin"), 1)) == [200]


def test_a_log_out_ends_the_session_also_for_copies_of_its_cookie_and_in_other_consoles(console: ConsoleThread) -> None:
    client = console.client(None)
    csrf = client.post("/api/session", json={"token": secret("read")}).json()["csrf"]
    copy = {"Cookie": f"{COOKIE}={client.cookies[COOKIE]}"}
    other = console.client(None)
    other.post("/api/session", json={"token": secret("read")}).raise_for_status()
    assert console.client(None).get("/api/session", headers=copy).status_code == 200
    assert client.delete("/api/session", headers={"X-CSRF-Token": csrf}).status_code == 204
    assert console.client(None).get("/api/session", headers=copy).status_code == 401
    assert other.get("/api/session").status_code == 200, "another session of the same token goes on"
    beside = httpx.ASGITransport(create_app(console.resources))

    async def elsewhere() -> int:
        async with httpx.AsyncClient(transport=beside, base_url="http://console") as known:
            return (await known.get("/api/session", headers=copy)).status_code

    assert console.call(elsewhere()) == 401


def test_a_link_does_not_replace_the_session_of_another_token(console: ConsoleThread) -> None:
    client = console.client(None)
    linked = {"token": secret("read"), "switch": False}
    assert client.post("/api/session", json=linked).json()["name"] == "read"
    assert client.post("/api/session", json=linked).status_code == 200, "the same person"
    refused = client.post("/api/session", json=linked | {"token": secret("admin")})
    assert refused.status_code == 409
    assert client.get("/api/session").json()["name"] == "read"
    assert client.post("/api/session", json={"token": secret("admin")}).json()["name"] == "admin"
    assert client.get("/api/session").json()["name"] == "admin"


@pytest.mark.parametrize("origin", ["http://[bad", "http://[::1", "//", "http://a b", "http://[v1.x]:y"])
def test_a_malformed_origin_is_another_site(console: ConsoleThread, origin: str) -> None:
    for body in ({"token": secret("read")}, {"token": "wrong"}):
        assert console.client(None).post("/api/session", json=body, headers={"Origin": origin}).status_code == 403


@pytest.mark.parametrize("depth", [150, 190, 199, 200, 201, 255, 300, 1_000, 1_025, 100_000])
@pytest.mark.parametrize("path", ["/api/answers", "/v1/check", "/v1/answers"])
def test_deep_metadata_is_accepted_or_refused(console: ConsoleThread, path: str, depth: int) -> None:
    at, deep = '"completed_at": "2026-11-02T08:00:00Z"', '{"a":' * depth + "1" + "}" * depth
    one = f'{{"answer_id": "deep", "answer": "Text.", {at}, "metadata": {deep}}}'
    body = f'{{"answers": [{one}]}}' if path == "/api/answers" else one
    # A busy machine takes longer than the second of the settings, whatever the depth.
    patience = {"deadline_ms": 30_000} if path == "/v1/check" else {}
    headers = {"Content-Type": "application/json"}
    sent = console.client().post(path, content=body, params=patience, headers=headers)
    assert sent.status_code in ((200, 202, 422) if depth <= 190 else (422,)), sent.text
    assert sent.headers["Content-Type"] == ("application/json" if sent.is_success else "application/problem+json")


def test_every_response_tells_the_browser_what_it_may_do(console: ConsoleThread) -> None:
    client = console.client()
    for path in ("/api/answers", "/healthz", "/api/nothing", "/static/nothing.js", "/login", "/api/openapi.json"):
        headers = client.get(path).headers
        assert {name: headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS, path
    policy = SECURITY_HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_readiness_tells_what_is_away(console: ConsoleThread) -> None:
    client = console.client(None)
    assert client.get("/healthz").json() == {"alive": True}
    assert client.get("/readyz").json() == {"ready": True, "checks": {"clickhouse": "ok", "broker": "ok"}}


# ---------------------------------------------------------------- settings


def test_tokens_off_loopback_need_encryption() -> None:
    with pytest.raises(ValueError, match=r"unencrypted on 0\.0\.0\.0"):
        ConsoleSettings(host="0.0.0.0")
    assert ConsoleSettings(host="0.0.0.0", behind_proxy=True).host == "0.0.0.0"
    assert ConsoleSettings(host="::1").host == "::1"
    with pytest.raises(ValueError, match="both or neither"):
        ConsoleSettings(tls_certfile="x")


def test_tokens_come_from_a_file_and_are_told_nowhere(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "tokens.json"
    path.write_text('[{"name": "gateway", "token": "0123456789abcdef-secret", "scopes": ["ingest", "feedback"]}]')
    monkeypatch.setenv("TOUCHSTONE_CONSOLE__TOKENS_FILE", str(path))
    settings = Settings(_env_file=None)
    (token,) = settings.console.tokens
    assert token.scopes == {Scope.INGEST, Scope.FEEDBACK}
    assert token.token.get_secret_value() == "0123456789abcdef-secret"
    assert "0123456789abcdef" not in repr(settings) + settings.model_dump_json()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{}", "write a JSON list"),
        ('[{"name": "a", "token": "short-secret", "scopes": ["read"]}]', "0.token"),
        ('[{"name": "a", "token": "0123456789abcdef", "scopes": ["fly"]}]', "0.scopes.0"),
        ('[{"name": "a", "token": "0123456789abcdef", "scopes": []}]', "0.scopes"),
        (
            '[{"name": "a", "token": "0123456789abcdef", "scopes": ["read"]}, {"name": "a", "token": "0123456789abcdeg", "scopes": ["read"]}]',
            "the same name",
        ),
    ],
)
def test_a_file_of_tokens_that_is_wrong_is_told_without_its_secrets(tmp_path, content: str, told: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "tokens.json"
    path.write_text(content)
    with pytest.raises(ValueError, match="tokens") as refused:
        ConsoleSettings(tokens_file=path)
    (error,) = refused.value.errors(include_input=False)  # type: ignore[attr-defined]
    assert told in error["msg"]
    assert "0123456789" not in error["msg"]
    assert "short-secret" not in error["msg"]
