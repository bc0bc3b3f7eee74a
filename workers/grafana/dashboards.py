"""Define the dashboards and their panels, in reading order.

``python -m workers.grafana`` writes them to deploy/grafana; a test compares the files with this module.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workers.grafana.panels import CLICKHOUSE, Asked, Measured, Panel, laid_out
from workers.grafana.sql import panel_sql

SCHEMA_VERSION = 41
"""Version of Grafana's dashboard model in the files (Grafana 12)."""

DEFAULT_CONSOLE = "http://localhost:8080"
"""Default address of the console in links."""


TO_OVERVIEW = {"Overview in the console": "/"}
TO_ANSWERS = {"Search answers": "/search"}
TO_HIGH_RISK = {"High-risk answers": "/search?risk=high"}
TO_REVIEW = {"Review queue": "/review"}
"""Links of panels to pages of the console."""


@dataclass(frozen=True, slots=True)
class Dashboard:
    """One dashboard.

    Attributes:
        uid: fixed identifier, so that links stay valid; also the name of the file.
        title: title of the dashboard.
        description: audience and purpose.
        since: start of the time range that the dashboard opens with.
        links: titles and paths in the console, for panels without links.
        panels: panels in order.
        variables: variables that the viewer can choose, besides the console's address.
    """

    uid: str
    title: str
    description: str
    since: str
    links: Mapping[str, str]
    panels: Sequence[Panel]
    variables: Sequence[dict[str, Any]] = ()

    def as_json(self, console: str = DEFAULT_CONSOLE) -> dict[str, Any]:
        """Return the dashboard in Grafana's JSON model.

        Args:
            console: address of the console, for links.
        """
        return {
            "uid": self.uid,
            "title": self.title,
            "description": self.description,
            "tags": ["touchstone"],
            "timezone": "utc",
            "editable": False,
            "schemaVersion": SCHEMA_VERSION,
            "version": 1,
            "refresh": "1m",
            "time": {"from": self.since, "to": "now"},
            "templating": {"list": [*self.variables, _constant("console", "Console", console)]},
            "annotations": {"list": []},
            "links": [
                {
                    "type": "dashboards", "title": "Touchstone", "tags": ["touchstone"], "asDropdown": True,
                    "includeVars": True, "keepTime": True, "targetBlank": False,
                },
                {"type": "link", "title": "Console", "url": "${console}", "targetBlank": True},
            ],
            "panels": laid_out(self.panels, self.links),
        }  # fmt: skip


def _constant(name: str, label: str, value: str) -> dict[str, Any]:
    return {
        "name": name, "label": label, "type": "constant", "hide": 2, "query": value,
        "current": {"text": value, "value": value}, "skipUrlSync": True,
    }  # fmt: skip


TENANT = {
    "name": "tenant", "label": "Tenant", "type": "query", "datasource": CLICKHOUSE, "refresh": 2, "sort": 1,
    "query": "SELECT DISTINCT tenant FROM answer_hours ORDER BY tenant",
    # Inserted into the SQL unchanged: the empty tenant means all tenants that the viewer may see.
    "includeAll": True, "allValue": "''", "multi": False,
    "current": {"text": "All", "value": "$__all"},
}  # fmt: skip
RUN = {
    "name": "run", "label": "Run", "type": "textbox", "query": "current",
    "description": "current, live, or the name of a replay; current is the promoted replay where it has evaluated "
        "all answers, else live",
    "current": {"text": "current", "value": "current"},
}  # fmt: skip
BY = {
    "name": "by", "label": "Compare by", "type": "custom", "multi": False, "includeAll": False,
    "query": "model : model_id, prompt version : prompt_version, query type : query_type",
    "current": {"text": "model", "value": "model_id"},
}  # fmt: skip

RATE = "$__rate_interval"


def _rate(metric: str, by: str = "", where: str = "") -> str:
    inner = f"rate({metric}{{{where}}}[{RATE}])" if where else f"rate({metric}[{RATE}])"
    return f"sum by ({by}) ({inner})" if by else f"sum({inner})"


def _quantile(quantile: float, metric: str, by: str = "") -> str:
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile({quantile}, sum by ({labels}) (rate({metric}_bucket[{RATE}])))"


def _quantiles(metric: str) -> Mapping[str, str]:
    return {name: _quantile(value, metric) for name, value in (("median", 0.5), ("95 %", 0.95), ("99 %", 0.99))}


OPERATIONS = Dashboard(
    "touchstone-operations",
    "Operations",
    "For the person on call: throughput, lag and errors.",
    "now-6h",
    TO_OVERVIEW,
    (
        Measured(
            "Answers a second", "Rate of answers that assembly receives and of enriched answers that it sends. A "
                "lasting gap means that answers wait for reports.",
            unit="ops",
            series={
                "in": _rate("touchstone_records_consumed_total", where='agent="assembly",topic="answers.generated"'),
                "enriched": _rate("touchstone_records_produced_total", where='agent="assembly",topic="answers.enriched"'),
            },
        ),
        Measured(
            "Consumer lag", "Records that an agent has not committed. For growing lag of one agent see the "
                "alert TouchstoneLagGrows in the operations guide.",
            series={"{{agent}}": "sum by (agent) (max by (agent, topic, partition) (touchstone_consumer_lag_records))"},
        ),
        Measured(
            "From answer to enriched answer", "Time from the answer's record at the broker to its enriched answer.",
            unit="s", series=_quantiles("touchstone_end_to_end_seconds"),
        ),
        Measured(
            "Duration of stages", "95th percentile for one answer or batch.", unit="s",
            series={"{{stage}}": _quantile(0.95, "touchstone_response_processing_duration_seconds", "stage")},
        ),
        Measured(
            "Dead letters", "Dead-lettered records, by agent and error: read them with touchstone dlq list.", unit="ops",
            stacked=True, shades="red", series={"{{agent}} {{error}}": _rate("touchstone_records_dead_lettered_total", "agent, error")},
        ),
        Measured(
            "Retries", "Repeated attempts, by agent and error. A store or the broker is unavailable or slow.",
            unit="ops", stacked=True,
            shades="orange", series={"{{agent}} {{error}}": _rate("touchstone_records_retried_total", "agent, error")},
        ),
        Measured(
            "Waiting and stopped agents", "1 while an agent waits for a store, the broker or an export target, "
                "and 1 after its circuit breaker stopped it.", maximum=1,
            shades="orange", series={
                "{{agent}} waits": "max by (agent) (touchstone_agent_waiting)",
                "{{agent}} stopped": "max by (agent) (touchstone_breaker_open)",
            },
        ),
        Measured(
            "In progress", "Records in progress, and answers and reports that wait for each other.",
            series={
                "{{agent}}": "sum by (agent) (touchstone_records_in_flight)",
                "join: {{kind}}": "sum by (kind) (touchstone_join_pending_answers)",
            },
        ),
        Measured(
            "Degraded answers", "Answers joined without a report, by the missing agent.", unit="ops",
            stacked=True, shades="orange", series={"{{missing}}": _rate("touchstone_join_degraded_total", "missing")},
        ),
        Measured(
            "Answers shown without evaluation", "Answers that readers see although their grounding was not evaluated, "
                "by state.", unit="ops", stacked=True,
            series={"{{state}}": _rate("touchstone_answers_unevaluated_total", "state")}, is_coloured=True,
        ),
        Measured(
            "Failed evaluations", "Evaluations with the status failed, by agent; the log has the reason.", unit="ops",
            stacked=True, shades="red", series={"{{agent}}": _rate("touchstone_judgements_total", "agent", 'status="failed"')},
        ),
        Measured(
            "Answers by hallucination risk", "Evaluated answers per second.", unit="ops", stacked=True,
            series={"{{risk_level}}": _rate("touchstone_hallucination_risk_total", "risk_level")}, is_coloured=True, links=TO_HIGH_RISK,
        ),
        Measured(
            "Decisions", "Release states per second.", unit="ops", stacked=True,
            series={"{{state}}": _rate("touchstone_decisions_total", "state")}, is_coloured=True,
        ),
        Measured(
            "Embedding", "95th percentile of a call of the model, and the share of texts found in the cache.",
            unit="s",
            series={
                "a call": _quantile(0.95, "touchstone_inference_duration_seconds"),
                "cache hits (share)": _rate("touchstone_embedding_cache_total", where='result="hit"')
                + " / "
                + _rate("touchstone_embedding_cache_total"),
            },
        ),
        Measured(
            "Writes to stores", "95th percentile of an acknowledged write, by sink.", unit="s",
            series={"{{sink}}": _quantile(0.95, "touchstone_sink_flush_duration_seconds", "sink")},
        ),
        Measured(
            "Rows stored", "Rows per second that a store has acknowledged.", unit="ops",
            series={"{{table}}": _rate("touchstone_sink_rows_total", "table")},
        ),
        Measured(
            "Memory", "Resident memory of each worker process.", unit="bytes",
            series={"{{instance}}": "process_resident_memory_bytes * on (instance) group_left () "
                "touchstone_build_info"},
        ),
        Measured(
            "Query history", "1 while Redis responds; otherwise no retry is detected.", kind="stat", width=6, height=5,
            series={"available": "min(touchstone_redis_available)"},
        ),
        Measured(
            "Dropped by rebalances", "Records of moved partitions; they are delivered again to another "
                "worker.", unit="ops",
            width=18, height=5, series={"{{agent}}": _rate("touchstone_records_stale_total", "agent")},
        ),
    ),
)  # fmt: skip

QUALITY = Dashboard(
    "touchstone-quality",
    "Quality",
    "For the AI engineer: quality of answers by model, prompt version and query type.",
    "now-7d",
    TO_ANSWERS,
    (
        Asked(
            "Answers", "Release states of answers. Held answers wait for a reviewer; a fallback replaces an "
                "answer without sufficient evidence.",
            stacked=True, is_coloured=True, query="answers_over_time", columns=("time", "released", "warned", "held", "fallback"),
        ),
        Asked(
            "Hallucination risk", "Answers by risk; answers without contexts have none.", stacked=True,
            query="risk_over_time", is_coloured=True,
        ),
        Asked(
            "Quality", "Mean quality score, by the compared dimension.", unit="percentunit", maximum=1, width=8,
            query="quality_over_time", columns=("time", "name", "quality"),
        ),
        Asked(
            "Grounding", "Mean grounding score: support of claims by their contexts.", unit="percentunit", maximum=1,
            width=8, query="quality_over_time", columns=("time", "name", "grounding"),
        ),
        Asked(
            "High risk", "Share of evaluated answers with high hallucination risk.", unit="percentunit", maximum=1,
            width=8, shades="red", query="quality_over_time", columns=("time", "name", "high_risk_share"), links=TO_HIGH_RISK,
        ),
        Asked(
            "Side by side", "The same figures over the whole time, the lowest grounding first.", kind="table", unit="percentunit",
            query="quality_by", units={"name": "string", "answers": "short"},
        ),
        Asked(
            "Grounding scores", "Answers by grounding score. A score below 0.5 raises an alert.",
            kind="barchart", query="grounding_distribution",
        ),
        Asked(
            "Failure signals", "Answers by failure signal, grounding issue and reason of the decision.",
            kind="table", query="failure_signals", given={"limit": 20}, units={"share": "percentunit"},
        ),
        Asked(
            "Drift", "Distance of the score distribution from the previous week, 0 to 1. For a drifted score, "
                "check recent changes.",
            kind="table", query="drift",
        ),
        Asked(
            "Answers with the lowest grounding", "The lowest grounding scores, with links to the console.", kind="table",
            width=24, query="worst_answers", links=TO_HIGH_RISK,
        ),
        Asked(
            "Comparison of runs", "Mean grounding score of the live run and of all replays in the time range.",
            unit="percentunit", maximum=1, query="runs_over_time", columns=("time", "name", "grounding"),
        ),
        Asked(
            "Slowest stages", "Duration of a stage for an answer, including the response time of the answering "
                "model.", kind="table",
            unit="s", query="slowest_stages", units={"name": "string", "answers": "short"},
        ),
        Asked(
            "Stages over time", "95th percentile for an answer.", unit="s", query="stages_over_time",
        ),
    ),
    (TENANT, RUN, BY),
)  # fmt: skip

SOURCES = Dashboard(
    "touchstone-sources",
    "Sources and citations",
    "For the owners of sources: contradicted sources, wrong citations, and sources of worse answers.",
    "now-7d",
    TO_ANSWERS,
    (
        Asked(
            "Valid citations and coverage", "Share of answers without invalid references, and mean share of cited "
                "claims.",
            unit="percentunit", maximum=1, query="citation_validity", columns=("time", "valid_share", "coverage"),
        ),
        Asked(
            "Invalid references", "Invalid references by reason.", kind="barchart",
            shades="red", query="invalid_references",
        ),
        Asked(
            "Contradicted sources", "Claims that a source contradicts: the source may be outdated or misread.",
            kind="table", width=24, query="contradicted_by_source", given={"limit": 50},
            units={"contradicted_share": "percentunit"},
        ),
        Asked(
            "Grounding by source", "Mean grounding score of the answers that use a source, for the ten sources "
                "with the most answers.",
            unit="percentunit", maximum=1, query="quality_by_source", columns=("time", "name", "grounding"),
        ),
        Asked(
            "Quality by source", "Mean quality score of the answers that use a source.", unit="percentunit",
            maximum=1, query="quality_by_source", columns=("time", "name", "quality"),
        ),
        Asked(
            "Alerts on answers", "The latest alerts, with links to the answers.", kind="table", width=24,
            query="system_alerts", given={"limit": 50},
        ),
    ),
    (TENANT, RUN),
)  # fmt: skip

FEEDBACK = Dashboard(
    "touchstone-feedback",
    "Feedback and models",
    "For the AI engineer and the router: feedback on answers and rewards of models.",
    "now-7d",
    TO_OVERVIEW,
    (
        Asked(
            "Reward by model", "Mean reward with its 95 % interval. Overlapping intervals show no clear difference.",
            kind="table", unit="percentunit", width=24, query="reward_by_model",
            units={"name": "string", "answers": "short"},
        ),
        Asked(
            "Reward over time", "Mean reward of each model.", unit="percentunit", maximum=1, query="reward_over_time",
            columns=("time", "name", "reward"),
        ),
        Asked(
            "Repeated, failed, slow", "Share of answers whose query was repeated, whose call failed, or that took "
                "over 30 s.",
            unit="percentunit", maximum=1, shades="red", query="retry_and_satisfaction",
            columns=("time", "retry_share", "failed_share", "too_slow_share"),
        ),
        Asked(
            "Satisfaction", "Mean satisfaction by behaviour, and mean explicit feedback.", unit="percentunit",
            maximum=1, query="retry_and_satisfaction", columns=("time", "satisfaction", "explicit_reward"),
        ),
        Asked(
            "Answers with a reward", "Number of answers behind the other figures.", query="retry_and_satisfaction",
            columns=("time", "answers"),
        ),
    ),
    (TENANT, RUN),
)  # fmt: skip

REVIEW = Dashboard(
    "touchstone-review",
    "Review",
    "For the lead of the reviewers: backlog, waiting time, agreement and cost.",
    "now-7d",
    TO_REVIEW,
    (
        Asked(
            "Requests", "Answers sent to review: all, those whose reader waits, and those still open.",
            query="review_backlog", is_coloured=True,
        ),
        Asked(
            "Time to decision", "Hours from the answer to its first decision.", unit="h", query="time_to_decision",
            columns=("time", "median_hours", "p95_hours"),
        ),
        Asked(
            "Reviewers", "Decisions and active time of each reviewer.", kind="table", query="reviewer_workload",
            units={"active_seconds": "s", "median_seconds": "s"},
        ),
        Asked(
            "Necessity of reviews", "Decisions by model of the answer; approved answers did not need a review.",
            kind="table", query="review_outcomes", units={"needed_share": "percentunit"},
        ),
        Asked(
            "Agreement", "Pairs of decisions on one answer: share of agreement, and Cohen's kappa (0 by chance, 1 "
                "always).",
            kind="table", query="review_agreement", units={"agreement": "percentunit"}, height=6,
        ),
        Asked(
            "Cost", "Active hours at 50 per hour, and cost per corrected or rejected answer.", height=6,
            query="review_cost", columns=("time", "cost", "cost_of_a_finding"), given={"hourly_cost": 50},
        ),
    ),
    (TENANT,),
)  # fmt: skip

DASHBOARDS = (OPERATIONS, QUALITY, SOURCES, FEEDBACK, REVIEW)


def panel_queries() -> list[str]:
    """Return the names of the queries used by panels."""
    panels = (panel for dashboard in DASHBOARDS for panel in dashboard.panels)
    return sorted({panel.query for panel in panels if isinstance(panel, Asked)})


def drift_alert() -> dict[str, Any]:
    """Return Grafana's provisioned alert on drift over the last day, over all tenants together."""
    sql = panel_sql("drift", {"tenant": "", "run": "live"}, ("name", "drifted"))
    threshold = {
        "type": "threshold", "refId": "B", "expression": "A",
        "conditions": [{"evaluator": {"type": "gt", "params": [0]}}],
    }  # fmt: skip
    rule = {
        "uid": "touchstone-drift",
        "title": "Scores have drifted",
        "condition": "B",
        "for": "30m",
        "noDataState": "OK",
        "execErrState": "Error",
        "labels": {"severity": "warning"},
        "annotations": {
            "summary": "The distribution of {{ $labels.name }} scores differs from that of the previous week.",
            "__dashboardUid__": QUALITY.uid,
        },
        "data": [
            {
                "refId": "A",
                "datasourceUid": CLICKHOUSE["uid"],
                "relativeTimeRange": {"from": 86_400, "to": 0},
                "model": {"refId": "A", "editorType": "sql", "queryType": "table", "format": 1, "rawSql": sql},
            },
            {
                "refId": "B",
                "datasourceUid": "__expr__",
                "relativeTimeRange": {"from": 86_400, "to": 0},
                "model": threshold,
            },
        ],
    }
    group = {"orgId": 1, "name": "touchstone-answers", "folder": "Touchstone", "interval": "5m", "rules": [rule]}
    return {"apiVersion": 1, "groups": [group]}
