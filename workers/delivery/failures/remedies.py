"""Recommend what an operator does about a dead letter."""

HINTS = {
    "UnreadableEvent": "This version cannot read the record. Correct the producer and let it send the answer again; "
    "requeue only after an upgrade of the worker (unknown version).",
    "UnreadableRecord": "The name of a header is not UTF-8: correct the producer, then requeue; the worker now escapes "
    "the name and reads the answer. On the topic dead-letters, a record without a reason comes from another program: "
    "find that program.",
    "OversizeRecord": "Send fewer or shorter contexts, or raise kafka.max_record_bytes together with the broker's "
    "limit, then requeue.",
    "OversizeBatch": "The producer sent a compressed batch that is too large after decompression; the message names its "
    "offsets. Find the producer and let it send the records again in smaller batches; the letter has no content and "
    "cannot be requeued.",
    "LibraryPanicked": "A library in Rust panicked at the record. Save it with `touchstone dlq export` and report it; "
    "do not requeue it before the library is mended.",
    "ResultTooLarge": "The result of the record exceeds the limit. Raise kafka.max_record_bytes together with the "
    "broker's limit, then requeue.",
    "RejectedByStore": "The store refuses the values. Is the schema older than the worker? Run `touchstone migrate`, "
    "then requeue.",
    "RefusedByReceiver": "The export target (OpenTelemetry, Langfuse, a webhook) refused the request; the letter "
    "contains its reply. Correct the target's settings or upgrade the worker, then requeue.",
    "ProcessKilled": "The record ended the process four times. Do not requeue before the defect is found: keep it "
    "with `touchstone dlq export` and send it to the developers.",
    "HandlerTimeout": "A store was slow for longer than all attempts. Check the store, then requeue.",
    "TransientError": "Every attempt failed, and a later one may succeed. Find the cause in the log, then requeue.",
    "PoisonError": "No later attempt can succeed with this record.",
}
OTHER_HINT = (
    "An error in Touchstone's own code; the log line `retries_exhausted` has the traceback. Report it, and requeue with the "
    "version that corrects it."
)


def remedy(error_class: str) -> str:
    """Return the recommendation for a class of errors, in one or more sentences."""
    return HINTS.get(error_class, OTHER_HINT)
