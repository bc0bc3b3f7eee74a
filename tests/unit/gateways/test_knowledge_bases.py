"""Answers of Bedrock's knowledge bases, with their sources and citations."""

from base64 import b64encode
from typing import Any

import pytest

from tests.unit.gateways.test_bedrock_models import ASKED, FIRST, SAID, SECOND, read

TERMS, LETTER = "Teig hält 36 Stunden bei 4 °C.", "Nach 36 Stunden wird Teig sauer."
ARN = "arn:aws:bedrock:eu-central-1::foundation-model/anthropic.claude-3-5-sonnet-20240620-v1:0"
ASKS = {
    "input": {"text": ASKED},
    "retrieveAndGenerateConfiguration": {
        "type": "KNOWLEDGE_BASE",
        "knowledgeBaseConfiguration": {"knowledgeBaseId": "KB1", "modelArn": ARN},
    },
}


def reference(text: str, uri: str) -> Any:
    return {
        "content": {"type": "TEXT", "text": text},
        "location": {"type": "S3", "s3Location": {"uri": uri}},
        "metadata": {
            "x-amz-bedrock-kb-source-uri": uri,
            "x-amz-bedrock-kb-chunk-id": f"chunk of {uri}",
            "author": "Ada",
        },
    }


def cited(text: str, start: int, end: int, *references: Any) -> Any:
    part = {"textResponsePart": {"text": text, "span": {"start": start, "end": end}}}
    return {"generatedResponsePart": part, "retrievedReferences": list(references)}


BOTH = [
    cited(FIRST, 0, len(FIRST) - 1, reference(TERMS, "s3://docs/teig.md")),
    cited(
        SECOND,
        len(FIRST) + 1,
        len(SAID) - 1,
        reference(TERMS, "s3://docs/teig.md"),
        reference(LETTER, "s3://docs/brief.md"),
    ),
]
FROM_BASE = {"sessionId": "session-77", "output": {"text": SAID}, "citations": BOTH, "guardrailAction": "NONE"}
FROM_STREAM = [
    {"output": {"text": FIRST}},
    {"citation": BOTH[0]},
    {"output": {"text": f" {SECOND}"}},
    {"citation": {"citation": BOTH[1]}},
    {"guardrail": {"action": "NONE"}},
]


@pytest.mark.parametrize("response", [FROM_BASE, FROM_STREAM])
def test_an_answer_of_a_knowledge_base_arrives_with_its_sources_and_citations(response: Any) -> None:
    answer = read("bedrock", {"request": ASKS, "response": response}).answer
    assert (answer.query, answer.answer) == (ASKED, SAID)
    assert [(chunk.content, chunk.source_path) for chunk in answer.contexts or ()] == [
        (TERMS, "s3://docs/teig.md"),
        (LETTER, "s3://docs/brief.md"),
    ]
    assert [(each.number, answer.answer[each.start : each.end]) for each in answer.citations or ()] == [
        (1, FIRST),
        (1, SECOND),
        (2, SECOND),
    ]
    assert (answer.model.provider, answer.model.id) == ("bedrock", "claude-3-5-sonnet-20240620")


def test_the_session_of_a_knowledge_base_is_that_of_the_answer() -> None:
    assert read("bedrock", {"request": ASKS, "response": FROM_BASE}).answer.session_id == "session-77"


def test_documents_that_a_request_brings_are_sources() -> None:
    data = b64encode(TERMS.encode()).decode()
    content = {"identifier": "teig.txt", "contentType": "text/plain", "data": data}
    source = {"sourceType": "BYTE_CONTENT", "byteContent": content}
    settings = {"type": "EXTERNAL_SOURCES", "externalSourcesConfiguration": {"modelArn": ARN, "sources": [source]}}
    request = {"input": {"text": ASKED}, "retrieveAndGenerateConfiguration": settings}
    answer = read(
        "bedrock", {"request": request, "response": {"sessionId": "s", "output": {"text": SAID}, "citations": []}}
    ).answer
    assert [(chunk.chunk_id, chunk.content) for chunk in answer.contexts or ()] == [("teig.txt", TERMS)]


def test_rows_of_a_database_and_pages_of_the_web_are_sources() -> None:
    row = {"content": {"type": "ROW", "row": [{"columnName": "stunden", "columnValue": "36", "type": "LONG"}]},
           "location": {"type": "SQL", "sqlLocation": {"query": "SELECT stunden FROM teig"}}}  # fmt: skip
    page = {
        "content": {"text": LETTER},
        "location": {"type": "WEB", "webLocation": {"url": "https://docs.example/teig"}},
    }
    video = {"content": {"type": "VIDEO", "video": {"s3Uri": "s3://v"}}, "location": {"s3Location": {"uri": "s3://v"}}}
    response = FROM_BASE | {"citations": [cited(SAID, 0, len(SAID), row, page, video)]}
    found = read("bedrock", {"request": ASKS, "response": response})
    assert [(chunk.content, chunk.source_path) for chunk in found.answer.contexts or ()] == [
        ('{"stunden":"36"}', "SELECT stunden FROM teig"),
        (LETTER, "https://docs.example/teig"),
    ]
    assert found.answer.metadata["record"]["citations_without_content"] == 1


def test_a_guardrail_that_stepped_in_is_told_by_the_finish_reason() -> None:
    response = {
        "sessionId": "s",
        "output": {"text": "Dazu sage ich nichts."},
        "citations": [],
        "guardrailAction": "INTERVENED",
    }
    assert read("bedrock", {"request": ASKS, "response": response}).answer.finish_reason == "guardrail_intervened"


def test_a_stream_of_a_knowledge_base_that_an_error_ends_has_failed() -> None:
    events = [{"output": {"text": FIRST}}, {"throttlingException": {"message": "Zu viele Anfragen"}}]
    answer = read("bedrock", {"request": ASKS, "response": events}).answer
    assert (answer.status, answer.answer) == ("error", FIRST)
