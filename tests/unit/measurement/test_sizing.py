"""One table of measured costs stands behind the plan, the manifests and the documents."""

import json
import re
from datetime import timedelta
from math import ceil
from typing import Any

import pytest
import yaml

from schemas.topics import TOPICS
from tests.harness.command import bare_environment, run_command
from tests.harness.paths import ROOT
from tests.unit.docs.test_docs import rows
from workers.measurement.sizing import PRICES, overlay, plan
from workers.measurement.sizing_table import (
    ANSWER_BYTES,
    DEPLOYED_RATE,
    LOAD,
    PODS,
    TABLE_BYTES,
    TOPIC_BYTES,
    ZONES,
)
from workers.settings import KafkaSettings, RetentionSettings, Settings
from workers.stores.clickhouse.retention import days_kept

FOLDER = ROOT / "deploy" / "kubernetes"
SCALING = ROOT / "docs" / "operations" / "scaling.md"
KB = ANSWER_BYTES / 1_000


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8")))


def test_pods_carry_the_rate_without_one_zone() -> None:
    for rate in (1, 50, 2_000, 7_777):
        found = plan(rate, KB, Settings())
        for each, cost in zip(found.pods, PODS, strict=True):
            answers_each = each.records_each / cost.records
            assert each.pods * answers_each >= rate, "the limit of the autoscaler is not in its way"
            capacity_left = each.pods * (1 - 1 / ZONES) * cost.cores * 1_000 / cost.cpu_ms
            assert capacity_left >= rate * (1 - 1e-9), "the pods of two zones carry the load of all"
            assert each.pods <= found.partitions, "a pod without a partition has nothing to do"
            assert ZONES <= each.fewest <= each.pods
        assert found.partitions % 12 == 0


def test_the_pods_with_most_partitions_carry_their_share() -> None:
    for rate in (1, 50, 100, 2_000, 7_777):
        found = plan(rate, KB, Settings())
        for each, cost in zip(found.pods, PODS, strict=True):
            most = ceil(found.partitions / each.pods)
            used = most * rate / found.partitions * cost.cpu_ms / 1_000 / cost.cores
            assert used <= 0.9, "a pod over its capacity has a lag that grows without an end"


def test_twice_the_rate_or_twice_the_size_is_twice_of_what_grows_with_it() -> None:
    one, faster, larger = (plan(rate, kb, Settings()) for rate, kb in ((1_000, KB), (2_000, KB), (1_000, 2 * KB)))
    for twice in (faster, larger):
        assert twice.kafka_tb == pytest.approx(2 * one.kafka_tb)
        assert twice.clickhouse_tb == pytest.approx(2 * one.clickhouse_tb)
        assert twice.cores == pytest.approx(2 * one.cores, rel=0.1)
    assert faster.records_per_second == 2 * one.records_per_second == 2 * larger.records_per_second
    assert faster.redis_gb == 2 * one.redis_gb == 2 * larger.redis_gb, "a query is kept as a vector of one size"


def test_disks_follow_the_settings() -> None:
    short = KafkaSettings(retention_days=dict.fromkeys(("answers.enriched", "feedback.analytics"), 1), replication=3)
    settings = Settings(kafka=short, retention=RetentionSettings(reviews=90))
    usual, less = plan(1_000, KB, Settings(kafka=KafkaSettings(replication=3))), plan(1_000, KB, settings)
    saved = (TOPIC_BYTES["answers.enriched"] + TOPIC_BYTES["feedback.analytics"]) * 29 * 3 * 1_000 * 86_400 / 1e12
    assert usual.kafka_tb - less.kafka_tb == pytest.approx(saved)
    of_reviews = (TABLE_BYTES["reviews"] + TABLE_BYTES["review_queue"]) * 275 * 1_000 * 86_400 / 1e12
    assert usual.clickhouse_tb - less.clickhouse_tb == pytest.approx(of_reviews)


def test_the_table_names_topics_tables_and_agents_that_exist() -> None:
    assert set(TOPIC_BYTES) <= {topic.name for topic in TOPICS}
    assert set(TABLE_BYTES) <= set(days_kept(RetentionSettings()))
    for cost in PODS:
        (pod,) = [each for each in documents(f"{cost.name}.yaml") if each["kind"] == "Deployment"]
        (container,) = pod["spec"]["template"]["spec"]["containers"]
        assert cost.agent in container["args"][-1].split(",")
        assert container["resources"]["limits"] == {"cpu": str(cost.cores), "memory": f"{cost.memory_gib:g}Gi"}


def test_the_documents_have_the_figures_of_the_table() -> None:
    *tables, _ = rows(SCALING, "| table | bytes an answer | days |")
    assert {name.strip("`"): int(size) for name, size, *_ in tables} == TABLE_BYTES
    found = rows(SCALING, "| deployment | CPU an answer | pods at 2,000 answers/s |")
    planned = plan(2_000, KB, Settings())
    assert found == [
        [cost.name, f"{cost.cpu_ms:g} ms", str(each.pods)] for cost, each in zip(PODS, planned.pods, strict=True)
    ]
    assert f"{planned.partitions} partitions" in SCALING.read_text(encoding="utf-8")


def test_the_manifests_have_partitions_and_pods_of_the_table() -> None:
    settings = (FOLDER / "settings.env").read_text(encoding="utf-8")
    found = plan(DEPLOYED_RATE, KB, Settings())
    assert f"TOUCHSTONE_KAFKA__PARTITIONS={found.partitions}\n" in settings
    assert f"--rate {DEPLOYED_RATE}`" in settings
    scaled = {each["metadata"]["name"]: each["spec"] for each in documents("keda/scaled-objects.yaml")}
    for each, cost in zip(found.pods, PODS, strict=True):
        (scaler,) = [one["spec"] for one in documents(f"{each.name}.yaml") if one["kind"] == "HorizontalPodAutoscaler"]
        due, cpu = scaler["metrics"]
        millicores = f"{round(cost.cores * 1_000 * LOAD)}m"
        assert (scaler["minReplicas"], scaler["maxReplicas"]) == (each.fewest, each.pods)
        assert due["external"]["metric"]["selector"]["matchLabels"]["agent"] == each.agent
        assert due["external"]["target"]["averageValue"] == str(each.records_each)
        assert cpu["resource"]["target"] == {"type": "AverageValue", "averageValue": millicores}
        by_keda = scaled[f"touchstone-{each.name}"]
        assert (by_keda["minReplicaCount"], by_keda["maxReplicaCount"]) == (each.fewest, each.pods)
        prometheus, by_cpu = by_keda["triggers"]
        assert prometheus["metadata"]["threshold"] == str(each.records_each)
        assert f'agent="{each.agent}"' in prometheus["metadata"]["query"]
        assert by_cpu["metadata"] == {"value": millicores}
        assert by_keda["advanced"]["horizontalPodAutoscalerConfig"]["behavior"] == scaler["behavior"]


def test_both_forms_ask_for_the_same_figure() -> None:
    (rule,) = documents("prometheus-adapter.yaml")[0]["rules"]["external"]
    (judging, *_) = documents("keda/scaled-objects.yaml")
    of_adapter = rule["metricsQuery"].replace("<<.LabelMatchers>>", 'agent="grounding"')
    plain = re.sub(r"sum by \(agent\) ", "sum", of_adapter).replace("by (agent, topic", "by (topic")
    assert plain == judging["spec"]["triggers"][0]["metadata"]["query"]


def test_the_overlay_holds_the_figures_of_the_plan() -> None:
    found = plan(2_000, KB, Settings())
    written = yaml.safe_load(overlay(found))
    assert written["configMapGenerator"][0]["literals"] == [f"TOUCHSTONE_KAFKA__PARTITIONS={found.partitions}"]
    patches = {
        (each["target"]["kind"], each["target"]["name"]): yaml.safe_load(each["patch"]) for each in written["patches"]
    }
    for each in found.pods:
        for kind in ("HorizontalPodAutoscaler", "ScaledObject"):
            values = [one["value"] for one in patches[kind, f"touchstone-{each.name}"]]
            assert values == [each.fewest, each.pods]


def test_the_command_prints_the_plan_for_people_and_machines() -> None:
    command = ("plan", "--rate", "2000", "--answer-kb", "2.6")
    shown = run_command(*command, folder=ROOT, environment=bare_environment()).stdout.decode()
    found = plan(2_000, 2.6, Settings())
    assert f"{found.partitions} partitions" in shown
    for name in (*PRICES, "Kafka", "ClickHouse", "Redis", *(cost.name for cost in PODS)):
        assert name in shown
    options = ["--price", "core=25", "--price", "redis_gb=2.5", "--json"]
    told = json.loads(run_command(*command, *options, folder=ROOT, environment=bare_environment()).stdout)
    assert told["partitions"] == found.partitions
    costs = {each["name"]: each for each in told["costs"]}
    assert costs["core"]["cost"] == 25 * found.cores
    assert costs["redis_gb"]["cost"] == pytest.approx(2.5 * found.redis_gb)
    assert costs["kafka_tb"] == {"name": "kafka_tb", "amount": found.kafka_tb, "cost": 0}


def test_a_price_of_nothing_known_is_refused() -> None:
    refused = run_command("plan", "--rate", "1", "--price", "horse=3", folder=ROOT, environment=bare_environment())
    assert refused.returncode == 2
    assert b"horse=3" in refused.stderr


def test_retention_without_an_end_counts_for_a_year() -> None:
    forever = Settings(retention=RetentionSettings(reviews=0))
    year = Settings(retention=RetentionSettings(reviews=365))
    assert plan(10, KB, forever).clickhouse_tb == plan(10, KB, year).clickhouse_tb
    kept = {topic.name for topic in TOPICS if topic.retention is None} & set(TOPIC_BYTES)
    days = [(topic.retention or timedelta(days=365)).days for topic in TOPICS if topic.name in kept]
    assert days == [365] * len(kept)
