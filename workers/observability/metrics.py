"""Declare and document every metric of the worker.

Metrics use base units (seconds, bytes) and the prefix ``touchstone_``. Labels have few values, such as
agents, topics and reasons. No label holds an identifier of an answer or a person. The first three metrics have the names
of earlier dashboards, plus the prefix. Every gauge has a label: a gauge without labels is 0 in
every process that never sets it.
"""

from prometheus_client import Counter, Gauge, Histogram, Info

STAGE_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LATENCY_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 3600)
SCORE_BUCKETS = tuple(step / 10 for step in range(1, 11))
SIZE_BUCKETS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

RESPONSE_PROCESSING_SECONDS = Histogram(
    "touchstone_response_processing_duration_seconds",
    "Duration of one stage for an answer or a batch, seconds",
    ["stage"],
    buckets=STAGE_BUCKETS,
)
RESPONSE_QUALITY = Histogram(
    "touchstone_response_quality_score", "Overall quality score of answers", buckets=SCORE_BUCKETS
)
HALLUCINATION_RISK = Counter("touchstone_hallucination_risk_total", "Answers by hallucination risk", ["risk_level"])
GROUNDING_SCORE = Histogram("touchstone_grounding_score", "Grounding score of answers", buckets=SCORE_BUCKETS)
CLAIMS = Counter("touchstone_claims_total", "Claims of answers by verdict", ["verdict"])

RECORDS_CONSUMED = Counter("touchstone_records_consumed_total", "Records delivered to an agent", ["agent", "topic"])
RECORDS_PRODUCED = Counter(
    "touchstone_records_produced_total", "Records acknowledged by the broker", ["agent", "topic"]
)
PRODUCERS_REPLACED = Counter(
    "touchstone_producers_replaced_total", "Producers replaced by a new one after a failed batch", ["error"]
)
BROKER_THROTTLED = Counter(
    "touchstone_broker_throttled_seconds_total", "Waits that a quota of the broker demanded, seconds", ["kind"]
)
RECORDS_ACKNOWLEDGED = Counter(
    "touchstone_records_acknowledged_total", "Records that an agent has processed", ["agent"]
)
RECORDS_SKIPPED = Counter(
    "touchstone_records_skipped_total", "Records that an agent skipped, by reason", ["agent", "reason"]
)
SPANS_UNREAD = Counter(
    "touchstone_spans_unread_total", "Spans of generative models that made no evaluable answer", ["agent", "reason"]
)
QUOTA_REFUSED = Counter(
    "touchstone_quota_refused_total", "Answers by HTTP that were refused over the quota of their tenant", ["tenant"]
)
RECORDS_RETRIED = Counter("touchstone_records_retried_total", "Repeated attempts", ["agent", "error"])
RECORDS_DEAD_LETTERED = Counter("touchstone_records_dead_lettered_total", "Dead-lettered records", ["agent", "error"])
RECORDS_ERASED = Counter("touchstone_records_erased_total", "Records dropped because their person is erased", ["agent"])
RECORDS_STALE = Counter(
    "touchstone_records_stale_total",
    "Records dropped because their partition was revoked; they are delivered again",
    ["agent"],
)
MASKED_VALUES = Counter(
    "touchstone_masked_values_total",
    "Masked personal data and secrets, by agent and kind",
    ["agent", "kind"],
)
IN_FLIGHT = Gauge("touchstone_records_in_flight", "Records in progress", ["agent"])
BATCH_SIZE = Histogram("touchstone_batch_size_records", "Records in a batch", ["agent"], buckets=SIZE_BUCKETS)
AGENT_WAITING = Gauge(
    "touchstone_agent_waiting", "1 while an agent waits for a store, the broker or an export target", ["agent", "kind"]
)
BREAKER_OPEN = Gauge("touchstone_breaker_open", "1 after an agent stopped because of too many dead letters", ["agent"])
RECORDS_LOST = Counter(
    "touchstone_records_lost_total", "Records that retention deleted before an agent had read them", ["agent", "topic"]
)
CONSUMER_LAG = Gauge(
    "touchstone_consumer_lag_records", "Consumer lag: records that are not committed", ["agent", "topic", "partition"]
)

END_TO_END_SECONDS = Histogram(
    "touchstone_end_to_end_seconds",
    "Time from an answer's record to its enriched answer, seconds",
    buckets=LATENCY_BUCKETS,
)
JOIN_PENDING = Gauge(
    "touchstone_join_pending_answers", "Answers that wait for reports, and reports that wait for answers", ["kind"]
)
ANSWERS_DEGRADED = Counter("touchstone_answers_degraded_total", "Answers joined without all reports")
JOIN_DEGRADED = Counter("touchstone_join_degraded_total", "Reports that joined answers lack, by agent", ["missing"])
UNEVALUATED = Counter(
    "touchstone_answers_unevaluated_total",
    "Answers that readers see although their grounding was not evaluated",
    ["state"],
)
for _state in ("released", "warned"):
    # There from the start: an increase from nothing to one is none for Prometheus, and one such answer is an alert.
    UNEVALUATED.labels(_state)
UNJOINED_REPORTS = Counter(
    "touchstone_unjoined_reports_total",
    "Reports of evaluator plug-ins stored without their answer: they came late, or the join does not wait for them",
    ["evaluator"],
)
JUDGEMENTS = Counter("touchstone_judgements_total", "Evaluations by status", ["agent", "status"])
DECISIONS = Counter("touchstone_decisions_total", "Decisions by release state", ["state"])
REVIEW_DECISIONS = Counter("touchstone_review_decisions_total", "Decisions and votes by result", ["action", "ruling"])
REVIEWS_OPEN = Gauge("touchstone_reviews_open", "Open reviews, reported by the elected worker", ["held"])
REVIEW_OLDEST_SECONDS = Gauge(
    "touchstone_review_oldest_seconds",
    "Age of the oldest open review, reported by the elected worker, seconds",
    ["agent"],
)
REVIEW_OVERDUE_SECONDS = Gauge(
    "touchstone_review_overdue_seconds",
    "Time since the earliest passed deadline of an open review, reported by the elected worker, seconds",
    ["agent"],
)
DEADLINES_PASSED = Counter(
    "touchstone_review_deadlines_total", "Decisions by policy after passed deadlines", ["action"]
)

CHECKS = Counter("touchstone_checks_total", "Synchronous checks by result", ["result"])
CHECK_SECONDS = Histogram(
    "touchstone_check_duration_seconds", "Duration of a synchronous check, seconds", buckets=STAGE_BUCKETS
)

REDIS_AVAILABLE = Gauge(
    "touchstone_redis_available", "1 while Redis responds; otherwise no retry is detected", ["agent"]
)
RETRY_CHECKS = Counter("touchstone_retry_checks_total", "Queries compared with the person's history", ["result"])
REWARDS = Histogram("touchstone_reward_score", "Rewards of answers, at each revision", buckets=SCORE_BUCKETS)

INFERENCE_SECONDS = Histogram(
    "touchstone_inference_duration_seconds", "Duration of one inference batch, seconds", buckets=STAGE_BUCKETS
)
INFERENCE_BATCH = Histogram("touchstone_inference_batch_texts", "Texts in an inference batch", buckets=SIZE_BUCKETS)
LOOP_PAUSE = Histogram(
    "touchstone_event_loop_pause_seconds",
    "Pause of the event loop at each measurement, seconds",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0),
)
EMBEDDING_CACHE = Counter("touchstone_embedding_cache_total", "Lookups in the embedding cache", ["result"])
SHARED_VECTORS = Counter("touchstone_shared_vectors_total", "Lookups of shared vectors in Redis", ["result"])
VERIFIER_SECONDS = Histogram(
    "touchstone_verifier_duration_seconds", "Duration of one batch of the verifier, seconds", buckets=STAGE_BUCKETS
)
VERIFIER_BATCH = Histogram("touchstone_verifier_batch_pairs", "Pairs in a batch of the verifier", buckets=SIZE_BUCKETS)
VERIFIER_CACHE = Counter("touchstone_verifier_cache_total", "Lookups in the verifier's cache", ["result"])
VERIFICATIONS = Counter("touchstone_verifications_total", "Answers evaluated with a verifier, by result", ["result"])
SINK_FLUSH_SECONDS = Histogram(
    "touchstone_sink_flush_duration_seconds",
    "Duration of an acknowledged write, seconds",
    ["sink"],
    buckets=STAGE_BUCKETS,
)
EXPORTS = Counter("touchstone_exports_total", "Records of an exporting agent by result", ["agent", "result"])
SINK_ROWS = Counter("touchstone_sink_rows_total", "Rows acknowledged by a store", ["sink", "table"])

MEMORY_LIMIT = Gauge("touchstone_memory_limit_bytes", "Memory limit of the process, if one is set, bytes", ["kind"])
BUILD = Info("touchstone_build", "Versions of this worker")
