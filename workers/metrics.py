"""Every metric of the worker, declared and documented here and only here.

Base units (seconds, bytes), prefix ``touchstone_``, and no identifiers in labels: labels
hold agents, topics, stages and reasons, whose number is small and known. The first three
are those of seed 000, under the worker's prefix.
"""

from prometheus_client import Counter, Gauge, Histogram, Info

STAGE_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LATENCY_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 3600)
SCORE_BUCKETS = tuple(step / 10 for step in range(1, 11))
SIZE_BUCKETS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

RESPONSE_PROCESSING_SECONDS = Histogram(
    "touchstone_response_processing_duration_seconds",
    "Time that one stage took for one answer or batch",
    ["stage"],
    buckets=STAGE_BUCKETS,
)
RESPONSE_QUALITY = Histogram(
    "touchstone_response_quality_score", "Overall quality score of answers", buckets=SCORE_BUCKETS
)
HALLUCINATION_RISK = Counter("touchstone_hallucination_risk_total", "Answers by hallucination risk", ["risk_level"])
GROUNDING_SCORE = Histogram("touchstone_grounding_score", "Grounding score of answers", buckets=SCORE_BUCKETS)
CLAIMS = Counter("touchstone_claims_total", "Claims of answers by verdict", ["verdict"])

RECORDS_CONSUMED = Counter("touchstone_records_consumed_total", "Records handed to an agent", ["agent", "topic"])
RECORDS_PRODUCED = Counter("touchstone_records_produced_total", "Records confirmed by the broker", ["agent", "topic"])
RECORDS_ACKNOWLEDGED = Counter("touchstone_records_acknowledged_total", "Records that are done", ["agent"])
RECORDS_SKIPPED = Counter(
    "touchstone_records_skipped_total", "Records that are not for this agent to judge", ["agent", "reason"]
)
RECORDS_RETRIED = Counter("touchstone_records_retried_total", "Attempts that were repeated", ["agent", "error"])
RECORDS_DEAD_LETTERED = Counter("touchstone_records_dead_lettered_total", "Records given up", ["agent", "error"])
RECORDS_ERASED = Counter(
    "touchstone_records_erased_total", "Records dropped unhandled because their person is erased", ["agent"]
)
RECORDS_STALE = Counter(
    "touchstone_records_stale_total", "Records dropped because their partition was revoked; they come again", ["agent"]
)
MASKED_VALUES = Counter(
    "touchstone_masked_values_total",
    "Personal data and secrets masked, by each agent that reads them",
    ["agent", "kind"],
)
IN_FLIGHT = Gauge("touchstone_records_in_flight", "Records accepted and not yet settled", ["agent"])
BATCH_SIZE = Histogram("touchstone_batch_size_records", "Records in a batch", ["agent"], buckets=SIZE_BUCKETS)
AGENT_WAITING = Gauge(
    "touchstone_agent_waiting", "1 while an agent waits for a store, the broker or a receiver", ["agent"]
)
BREAKER_OPEN = Gauge("touchstone_breaker_open", "1 once an agent has stopped for too many dead letters", ["agent"])
CONSUMER_LAG = Gauge("touchstone_consumer_lag_records", "Records not yet committed", ["agent", "topic", "partition"])

END_TO_END_SECONDS = Histogram(
    "touchstone_end_to_end_seconds",
    "From the answer's record at the broker to its enriched answer made",
    buckets=LATENCY_BUCKETS,
)
JOIN_PENDING = Gauge(
    "touchstone_join_pending_answers", "Answers that wait for reports, or reports for answers", ["kind"]
)
JOIN_DEGRADED = Counter("touchstone_join_degraded_total", "Answers joined without all reports", ["missing"])
JUDGEMENTS = Counter("touchstone_judgements_total", "Judgements by status", ["agent", "status"])
DECISIONS = Counter("touchstone_decisions_total", "Decisions by release state", ["state"])
REVIEW_DECISIONS = Counter(
    "touchstone_review_decisions_total", "Decisions and votes by what became of them", ["action", "ruling"]
)
REVIEWS_OPEN = Gauge("touchstone_reviews_open", "Open reviews, told by the elected worker", ["held"])
REVIEW_OLDEST_SECONDS = Gauge("touchstone_review_oldest_seconds", "Age of the oldest open review, as above")
DEADLINES_PASSED = Counter(
    "touchstone_review_deadlines_total", "What the policy did about passed deadlines", ["action"]
)

CHECKS = Counter("touchstone_checks_total", "Answers judged for who waits, by what became of them", ["result"])
CHECK_SECONDS = Histogram(
    "touchstone_check_duration_seconds", "From the request to the result of a check", buckets=STAGE_BUCKETS
)

REDIS_AVAILABLE = Gauge(
    "touchstone_redis_available", "1 while the query history answers; without it no retry is detected"
)
RETRY_CHECKS = Counter("touchstone_retry_checks_total", "Queries held against the person's history", ["result"])
REWARDS = Histogram("touchstone_reward_score", "Rewards of answers, at each revision", buckets=SCORE_BUCKETS)

INFERENCE_SECONDS = Histogram(
    "touchstone_inference_duration_seconds", "Time that one inference batch took", buckets=STAGE_BUCKETS
)
INFERENCE_BATCH = Histogram("touchstone_inference_batch_texts", "Texts in an inference batch", buckets=SIZE_BUCKETS)
LOOP_PAUSE = Histogram(
    "touchstone_event_loop_pause_seconds",
    "Time that the event loop stood still, at each look",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0),
)
EMBEDDING_CACHE = Counter("touchstone_embedding_cache_total", "Look-ups in the embedding cache", ["result"])
SHARED_VECTORS = Counter(
    "touchstone_shared_vectors_total", "Look-ups in Redis of vectors that other workers may have made", ["result"]
)
VERIFIER_SECONDS = Histogram(
    "touchstone_verifier_duration_seconds", "Time that one batch of the verifier took", buckets=STAGE_BUCKETS
)
VERIFIER_BATCH = Histogram("touchstone_verifier_batch_pairs", "Pairs in a batch of the verifier", buckets=SIZE_BUCKETS)
VERIFIER_CACHE = Counter("touchstone_verifier_cache_total", "Look-ups in the verifier's cache", ["result"])
VERIFICATIONS = Counter(
    "touchstone_verifications_total", "Answers judged while a verifier is set, by what it said of them", ["result"]
)
SINK_FLUSH_SECONDS = Histogram(
    "touchstone_sink_flush_duration_seconds", "Time that a confirmed write took", ["sink"], buckets=STAGE_BUCKETS
)
EXPORTS = Counter(
    "touchstone_exports_total", "Records of an exporting agent by what became of them", ["agent", "result"]
)
SINK_ROWS = Counter("touchstone_sink_rows_total", "Rows confirmed by a store", ["sink", "table"])

BUILD = Info("touchstone_build", "Versions of this worker")
