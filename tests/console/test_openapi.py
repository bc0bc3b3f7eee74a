"""The OpenAPI document is true: what it allows is answered as it says, and nothing ends in an error of ours."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from schemas.enriched import EnrichedAnswer
from tests.harness.console import EVERYTHING, ConsoleThread, secret
from tests.harness.variants import variants

EXAMPLES = [6, 20]
"""Requests to each operation: some fit the document, some do not."""


# The console works in a thread of this process, and what it uses draws random numbers meanwhile.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
def test_the_search_of_memory_names_one_default_tenant(console: ConsoleThread) -> None:
    operation = console.client().get("/api/openapi.json").json()["paths"]["/api/memory"]["get"]
    (tenant,) = [each for each in operation["parameters"] if each["name"] == "tenant"]
    assert "all tenants of the token" not in tenant["description"]
    assert "only tenant of the token, else default" in tenant["description"]
    assert "default tenant" not in operation["description"], "it is described once"


@pytest.mark.parametrize("examples", variants(EXAMPLES, in_every_run=EXAMPLES[:1]))
def test_every_operation_does_as_the_document_says(
    console: ConsoleThread, stored: list[EnrichedAnswer], examples: int
) -> None:
    document = schemathesis.openapi.from_url(f"{console.url}/api/openapi.json")
    tried = set()
    for result in document.get_all_operations():
        operation = result.ok()
        tried.add(operation.label)
        cases = [operation.as_strategy(generation_mode=mode) for mode in schemathesis.GenerationMode]

        @settings(
            max_examples=examples, deadline=None, derandomize=True, database=None,
            phases=[Phase.generate], suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=st.one_of(cases))
        def check(case: schemathesis.Case) -> None:
            headers = {"Authorization": f"Bearer {secret(EVERYTHING)}"}
            response = case.call(headers=headers)
            # A schema cannot tell all that is asked for: years of times, a part that goes with its kind.
            excluded: list[Any] = [positive_data_acceptance]
            if response.status_code == 413:
                # What is too large is refused before anybody looks whether it is wrong as well.
                excluded.append(negative_data_rejection)
            if response.status_code == 504:
                # A deadline of a few milliseconds passes on a busy machine.
                excluded.append(not_a_server_error)
            case.validate_response(response, headers=headers, excluded_checks=excluded)

        check()
    assert {"GET /api/citations/{citation_id}", "POST /api/feedback", "GET /api/overview"} <= tried
