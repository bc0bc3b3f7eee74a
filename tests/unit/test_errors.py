"""Every error has one fate, and no text quotes a payload."""

import pytest

from schemas.answers import GeneratedAnswer
from schemas.base import UnreadableEvent
from workers.delivery import errors
from workers.delivery.errors import Fate, TouchstoneError, describe, fate_of

FATES = {
    errors.TransientError: Fate.RETRY,
    errors.UnavailableError: Fate.WAIT,
    errors.BrokerUnavailable: Fate.WAIT,
    errors.StoreUnavailable: Fate.WAIT,
    errors.ReceiverUnavailable: Fate.WAIT,
    errors.JudgementError: Fate.DEGRADE,
    errors.InferenceFailed: Fate.DEGRADE,
    errors.InferenceTimeout: Fate.DEGRADE,
    errors.PoisonError: Fate.DEAD_LETTER,
    errors.UnreadableRecord: Fate.DEAD_LETTER,
    errors.OversizeRecord: Fate.DEAD_LETTER,
    errors.ResultTooLarge: Fate.DEAD_LETTER,
    errors.RejectedByStore: Fate.DEAD_LETTER,
    errors.RefusedByReceiver: Fate.DEAD_LETTER,
    errors.BrokenPromise: Fate.STOP,
    errors.DeadLetterFailed: Fate.STOP,
    errors.ProducerEnded: Fate.STOP,
}


@pytest.mark.parametrize(("kind", "fate"), FATES.items(), ids=lambda value: getattr(value, "__name__", value))
def test_the_type_of_an_error_decides_the_fate_of_its_record(kind: type[Exception], fate: Fate) -> None:
    assert fate_of(kind("why")) is fate


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
    assert fate_of(KeyError("x")) is Fate.RETRY
    assert fate_of(MemoryError()) is Fate.STOP
    assert fate_of(UnreadableEvent("invalid", "x")) is Fate.DEAD_LETTER


def test_the_text_of_a_foreign_error_is_not_told_since_it_may_quote_the_record() -> None:
    assert "secret" not in describe(KeyError("secret answer text"))
    assert "KeyError" in describe(KeyError("secret answer text"))


def test_an_unreadable_event_names_the_field_and_hides_the_value() -> None:
    with pytest.raises(UnreadableEvent) as raised:
        GeneratedAnswer.from_bytes(b'{"answer_id": "a", "answer": "x", "completed_at": "secret words"}')
    assert "completed_at" in describe(raised.value)
    assert "secret" not in describe(raised.value)
