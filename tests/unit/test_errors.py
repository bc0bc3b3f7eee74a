"""Every error has one fate, and no text quotes a payload."""

import pytest

from schemas.answers import GeneratedAnswer
from schemas.base import UnreadableEvent
from workers import errors
from workers.delivery.failures.error_action import ErrorAction, action_for
from workers.errors import TouchstoneError, describe

FATES = {
    errors.TransientError: ErrorAction.RETRY,
    errors.UnavailableError: ErrorAction.WAIT,
    errors.BrokerUnavailable: ErrorAction.WAIT,
    errors.StoreUnavailable: ErrorAction.WAIT,
    errors.ReceiverUnavailable: ErrorAction.WAIT,
    errors.RouteMissing: ErrorAction.WAIT,
    errors.JudgementError: ErrorAction.DEGRADE,
    errors.BudgetExceeded: ErrorAction.DEGRADE,
    errors.InferenceFailed: ErrorAction.DEGRADE,
    errors.InferenceTimeout: ErrorAction.DEGRADE,
    errors.PoisonError: ErrorAction.DEAD_LETTER,
    errors.UnreadableRecord: ErrorAction.DEAD_LETTER,
    errors.OversizeRecord: ErrorAction.DEAD_LETTER,
    errors.OversizeBatch: ErrorAction.DEAD_LETTER,
    errors.LibraryPanicked: ErrorAction.DEAD_LETTER,
    errors.ResultTooLarge: ErrorAction.DEAD_LETTER,
    errors.RejectedByStore: ErrorAction.DEAD_LETTER,
    errors.RefusedByReceiver: ErrorAction.DEAD_LETTER,
    errors.FatalDeliveryError: ErrorAction.STOP,
    errors.DeadLetterFailed: ErrorAction.STOP,
    errors.ProducerEnded: ErrorAction.STOP,
}


@pytest.mark.parametrize(("kind", "fate"), FATES.items(), ids=lambda value: getattr(value, "__name__", value))
def test_the_type_of_an_error_decides_the_fate_of_its_record(kind: type[Exception], fate: ErrorAction) -> None:
    assert action_for(kind("why")) is fate


def test_every_error_of_the_taxonomy_has_a_row_in_the_table() -> None:
    declared = {
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, TouchstoneError) and value is not TouchstoneError
    }
    assert declared == set(FATES)


def test_every_error_of_the_taxonomy_is_drawn_in_the_tree() -> None:
    assert errors.__doc__
    for kind in FATES:
        assert kind.__name__ in errors.__doc__


def test_an_unknown_error_is_retried_and_running_out_of_memory_stops() -> None:
    assert action_for(KeyError("x")) is ErrorAction.RETRY
    assert action_for(MemoryError()) is ErrorAction.STOP
    assert action_for(UnreadableEvent("invalid", "x")) is ErrorAction.DEAD_LETTER


def test_the_text_of_a_foreign_error_is_not_told_since_it_may_quote_the_record() -> None:
    assert "secret" not in describe(KeyError("secret answer text"))
    assert "KeyError" in describe(KeyError("secret answer text"))


def test_an_unreadable_event_names_the_field_and_hides_the_value() -> None:
    with pytest.raises(UnreadableEvent) as raised:
        GeneratedAnswer.from_bytes(b'{"answer_id": "a", "answer": "x", "completed_at": "secret words"}')
    assert "completed_at" in describe(raised.value)
    assert "secret" not in describe(raised.value)
