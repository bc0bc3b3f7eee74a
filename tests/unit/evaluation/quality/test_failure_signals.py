"""Failure signals: found where the answer itself fails, silent where it speaks about failures."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.quality import FailureSignal
from tests.harness.linear_time import check_linear, repeated
from workers.evaluation.quality.failure_signals import MAX_SIGNALS_PER_TYPE, find_signals, is_refusal, is_tool_failure
from workers.evaluation.thresholds import QualityThresholds

DEFAULTS = QualityThresholds()


def signals(text: str, thresholds: QualityThresholds = DEFAULTS) -> list[FailureSignal]:
    return find_signals(text, thresholds)


def types(text: str) -> list[str]:
    return [signal.type for signal in signals(text)]


@pytest.mark.parametrize(
    "text",
    [
        "The handler raises an exception when a network error or a timeout occurs.",
        "Error: ECONNREFUSED means that nothing listens on that port.",
        "The API request timed out because the gateway waits for 30 seconds only [1].",
        "If the tool failed, retry it twice and then open a ticket.",
        "The cutting tool failed after 300 cycles [1], 40 fewer than in May.",
        "An error occurred in the billing service at 03:12, which dropped 42 invoices. The team restarted it. "
        "Afterwards the queue was drained. No invoice was lost.",
        "The error rate rose to 3 % on Monday and fell to 1 % on Friday.",
        "What happens if an API error is returned? The client retries it.",
        'The log shows "Error: API request timed out" at 10:42, after the deployment.',
        "```\nError: API request timed out\n```\n\nThis line means that the gateway gave up.",
        "> Error: API request timed out\n\nThis line of the log means that the gateway gave up.",
        "# Error: timeouts\n\nTimeouts are raised after 30 seconds by the gateway.",
    ],
)
def test_answer_about_errors_is_no_tool_failure(text: str) -> None:
    assert "tool_failure" not in types(text)


@pytest.mark.parametrize(
    "text",
    [
        "Tool failed.",
        "The tool call failed and returned no result.",
        "**Error:** the database connection timed out.",
        "I encountered an error while searching the knowledge base.",
        "I'm sorry, my search timed out. Please ask again in a minute.",
        "I tried to query the database, but the request failed.",
        "An error occurred while processing your request.",
        "requests.exceptions.ConnectionError: HTTPSConnectionPool: Max retries exceeded",
        "Traceback (most recent call last): the tool could not be run",
        '{"error": "rate limit exceeded"}',
        "Fehler: Die Anfrage wurde abgebrochen.",
        "Request timed out, please try again later",
        "Something went wrong. Please try again.",
    ],
)
def test_answer_that_reports_its_own_failed_call_is_tool_failure(text: str) -> None:
    assert is_tool_failure(signals(text))


@pytest.mark.parametrize(
    "text",
    [
        "You cannot mount it twice, so unmount it first.",
        "The pod is unable to process requests until the volume is mounted.",
        'The bot replied "I cannot help with that" and closed the chat.',
        "> I cannot help with that.\n\nThis was the reply of the bot in 2019, before the update.",
        "Users who see `I cannot` in the output must log in again.",
        "What if I cannot log in? Reset the password on the login page.",
        "If I cannot reach the host, the check is repeated after 60 seconds.",
        "I can't stress enough how important a backup is before the update.",
        "I can't see your cluster, but you can check its pods with kubectl.",
        "I cannot provide an exact number, but the report names about 40 cases [1].",
        "Restart the pod. Then read its log. Raise the limit to 4 GiB. I cannot see your cluster, so adapt the names.",
        "We cannot ship orders on Sunday; they leave on Monday [2].",
    ],
)
def test_inability_in_advice_or_quotation_is_no_refusal(text: str) -> None:
    assert "refusal" not in types(text)


@pytest.mark.parametrize(
    "text",
    [
        "I can’t assist with that.",
        "I'm sorry, but I'm unable to help with this request.",
        "Thank you for your question. I understand that it is urgent. Unfortunately, I cannot provide legal advice.",
        "Unable to answer based on given passages.",
        "I must respectfully decline.",
        "This is against my content policy, so let us talk about something else.",
        "I don't have enough information to answer.",
        "I refuse to write that.",
        '"I cannot help with that request."',
        "Ich kann Ihnen dabei leider nicht helfen.",
        "Das kann ich nicht beantworten.",
        "Je ne peux pas vous aider avec cette demande.",
        "Lo siento, pero no puedo ayudarte con eso.",
    ],
)
def test_speaker_who_declines_refuses(text: str) -> None:
    assert is_refusal(signals(text))


@pytest.mark.parametrize(
    "text",
    [
        "The configuration lies in /etc. It is read at start.",
        "Copy the file to /etc/loki and restart etcd afterwards.",
        "The host etc.example.org answers on port 443 only.",
        "Sales fell and so on Monday we lowered the price.",
        "The switch prints `etc.` after ten lines of output.",
    ],
)
def test_etc_in_a_path_is_not_incomplete(text: str) -> None:
    assert "incomplete_reasoning" not in types(text)


def test_ambiguous_contract_is_a_finding_and_no_confusion() -> None:
    assert types("The contract is ambiguous about the notice period [1].") == []
    assert types("Your question is ambiguous, could you clarify it?") == ["confusion", "confusion"]


def test_helpful_turn_after_missing_access_is_no_hallucination_risk() -> None:
    assert types("I don't have access to your cluster, but you can list its pods with kubectl.") == []
    assert "hallucination_risk" in types("I don't have live data. However, revenue was $4 million in May.")


def test_span_and_evidence_are_code_points_of_the_raw_answer() -> None:
    text = "🦀🦀 Überblick: es ist schön. My best guess is 42 of them."
    (signal,) = signals(text)
    assert signal.span is not None
    assert text[signal.span.start : signal.span.end] == signal.evidence == "My best guess"
    assert signal.evidence in (signal.context or "")


def test_minimum_length_is_a_setting() -> None:
    assert types("x" * 19) == ["empty_response"]
    assert types("x" * 20) == []
    assert [s.type for s in signals("OK", QualityThresholds(min_length=0))] == []
    assert types("") == types(" \n\t ") == ["empty_response"]


def test_flood_of_hedges_is_bounded() -> None:
    assert types("It is probably so. " * 500) == ["low_confidence"] * MAX_SIGNALS_PER_TYPE


@given(st.text(alphabet=st.sampled_from("I cannot'help\"`>#-.\n error:toolfail“”but"), max_size=300))
def test_any_text_gives_ordered_signals_inside_the_text(text: str) -> None:
    found = [signal for signal in signals(text) if signal.type != "empty_response"]
    spans = [signal.span for signal in found]
    assert all(span is not None and 0 <= span.start < span.end <= len(text) for span in spans)
    assert found == sorted(found, key=lambda signal: (signal.span.start if signal.span else 0, signal.type))
    assert signals(text) == signals(text)


@pytest.mark.parametrize(
    "unit",
    ["I cannot ", "I tried but ", '"', "“", "`", "tool error ", "my search ", "I don't have access ", "[", "Ich kann "],
)
def test_hostile_answer_is_judged_in_linear_time(unit: str) -> None:
    check_linear(lambda text: partial(find_signals, text, DEFAULTS), repeated(unit), repr(unit))


@pytest.mark.parametrize(
    "text",
    [
        "The gateway timed out twice on Monday and was restarted.",
        "The server crashed at 14:03 and was back at 14:20.",
        "Yes, I can help with that. Open Settings, choose Security and press Reset.",
        "No, the API does not support batch deletion. Delete the records one by one with the endpoint /records/{id}.",
        "Unable to mount the volume? Check that no other pod uses it, then delete the stale attachment.",
        "Timeouts are set in the file gateway.yaml; the default is 30 seconds and the maximum 300 seconds.",
        "The patient was confused and unable to answer simple questions on admission, according to the chart.",
        "Let's assume a price of 10 euros per unit: then the break-even point lies at 1,200 units.",
        "Der Server ist gestern um 14:03 Uhr abgestürzt, weil die Platte voll war.",
        "La connexion a échoué parce que le certificat avait expiré le 3 mars ; il a été renouvelé le lendemain.",
        "El servidor falló a las 14:03 porque el disco estaba lleno.",
        "Selon la norme, la machine ne peut pas être mise en marche sans capot de protection.",
    ],
)
def test_an_answer_that_is_in_order_shows_no_signal(text: str) -> None:
    assert types(text) == []


def test_a_call_that_failed_and_left_the_speaker_without_data_is_its_own() -> None:
    assert is_tool_failure(signals("The request to the metrics API timed out after 30 seconds, so I have no figures."))
