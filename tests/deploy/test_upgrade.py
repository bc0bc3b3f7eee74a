"""docker-compose.yml of an earlier commit, upgraded to the present one with its data."""

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.harness.compose import ANSWERS, OURS, SERVERS, Compose, query, running_compose, start, stored
from tests.harness.containers import PodmanMissing, build, run, wait_until

pytestmark = [pytest.mark.containers, pytest.mark.timeout(3_600)]

EARLIER = "d89a00b50ded51fe111584883fbf2389aeac926c"
"""A commit whose migrations are those of today, without the last ones: no version has been released yet."""

TABLES = ("answers", "claims", "citations", "review_queue", "review_decisions", "feedback", "rewards")
EVALUATED = "SELECT answer_id, pipeline_version, grounding_score, enriched_at FROM touchstone.answers FINAL ORDER BY 1"


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compose]:
    """The project of the earlier commit."""
    folder = tmp_path_factory.mktemp("earlier")
    archive = folder / "commit.tar"
    if run("git", "archive", "--output", archive, EARLIER).returncode:
        pytest.skip(f"no upgrade: the history of this checkout does not reach back to {EARLIER}")
    run("tar", "--extract", "--file", archive, "--directory", folder)
    archive.unlink()
    try:
        build("base", "worker", f"earlier {folder}")
        servers = tuple(name for name in SERVERS if name != "alertmanager")
        ours = tuple(name for name in OURS if name != "judging")
        file = folder / "docker-compose.yml"
        with running_compose(version="earlier", file=file, servers=servers, ours=ours) as project:
            yield project
    except PodmanMissing as reason:
        pytest.skip(f"no containers: {reason}")


def test_an_upgrade_keeps_answers_reviews_and_feedback_and_evaluates_nothing_again(earlier: Compose) -> None:
    earlier.up("feed")
    wait_until(lambda: stored(earlier) == f"{ANSWERS}\t0", "every answer is stored, none degraded")
    voted = query(earlier, "SELECT answer_id FROM touchstone.answers ORDER BY answer_id LIMIT 1")
    post(earlier, f"/api/answers/{voted}/vote", vote="down")
    taken = post(earlier, "/api/reviews/next")
    post(earlier, f"/api/reviews/{taken['review_id']}/decision", user_action="reject")
    for table in ("feedback", "rewards", "review_decisions"):
        wait_until(lambda table=table: rows(earlier)[table] != "0", f"a row of {table} is stored")
    kept, evaluated = rows(earlier), query(earlier, EVALUATED)
    last = query(earlier, "SELECT max(enriched_at) FROM touchstone.answers")

    earlier.down()
    present = Compose(earlier.passwords)
    start(present)
    assert query(present, EVALUATED) == evaluated
    assert rows(present) == kept
    present.up("feed")
    again = f"SELECT countIf(enriched_at > '{last}') FROM touchstone.answers FINAL"
    wait_until(lambda: query(present, again) == str(ANSWERS), "the present version evaluates every answer")
    assert stored(present) == f"{ANSWERS}\t0"


def post(compose: Compose, path: str, **body: Any) -> Any:
    """Send a request to the console, and return its answer."""
    headers = {"Authorization": f"Bearer {compose.passwords['CONSOLE_TOKEN']}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:8080{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def rows(compose: Compose) -> dict[str, str]:
    """Return the number of rows by table."""
    return {name: query(compose, f"SELECT count() FROM touchstone.{name} FINAL") for name in TABLES}
