"""The simulated day keeps every answer, and tells what a failure leaves behind."""

import numpy as np
import pytest

from benchmarks.day import REBALANCE_SECONDS, Deployment, Failure, failures_of, simulate

NOBODY = np.zeros(12, np.bool_)


def deployment(pods: int = 4, each: float = 100.0) -> Deployment:
    return Deployment("judging", pods, 1, 1_000 / each, 12)


def test_every_answer_waits_or_is_done() -> None:
    pods = deployment()
    rng, arrived, done = np.random.default_rng(1), 0.0, 0.0
    for second in range(200):
        came = rng.poisson(40, 12).astype(float)
        on = [Failure("a zone", 50, 30, pods=0.5), Failure("a broker", 120, 10, leaders=0.3)]
        done += pods.step(came, [each for each in on if each.is_on(second)], NOBODY).sum()
        arrived += came.sum()
    assert done + pods.waiting.sum() == pytest.approx(arrived)
    assert done < arrived, "more arrives than they can do"


def test_a_pod_does_no_more_than_it_can_and_shares_it_over_its_partitions() -> None:
    pods = deployment(pods=4, each=100)
    done = pods.step(np.repeat([100.0, 10.0, 0.0, 20.0], 3), [], NOBODY)
    assert done == pytest.approx(np.repeat([100 / 3, 10.0, 0.0, 20.0], 3))


def test_partitions_without_a_leader_and_deployments_without_their_store_wait() -> None:
    pods, leaderless = deployment(), np.arange(12) < 6
    assert pods.step(np.ones(12), [], leaderless).tolist() == [0.0] * 6 + [1.0] * 6
    assert pods.step(np.ones(12), [Failure("store", 0, 1, stops=("judging",))], NOBODY).sum() == 0
    assert pods.step(np.zeros(12), [], NOBODY).tolist() == [2.0] * 6 + [1.0] * 6


def test_a_rebalance_pauses_everybody_and_other_pods_take_over() -> None:
    pods, zone = deployment(pods=4, each=100), Failure("a zone", 0, 100, pods=0.5)
    served = [pods.step(np.full(12, 10.0), [zone], NOBODY).sum() for _ in range(REBALANCE_SECONDS + 1)]
    assert served == pytest.approx([0.0] * REBALANCE_SECONDS + [200.0])


def test_a_store_that_comes_back_is_caught_up_with() -> None:
    away = Failure("ClickHouse", 600, 120, stops=("storing",))
    found = {(each.deployment, each.during): each for each in simulate(200, 0.5, 1, failures=[away])}
    storing, judging = found["storing", "ClickHouse"], found["judging", "ClickHouse"]
    assert 200 * 115 < storing.backlog < 200 * 125
    assert storing.caught_up_minutes is not None and 1 < storing.caught_up_minutes < 10
    assert judging.backlog < 200, "agents without the store go on"


def test_a_plan_with_too_few_partitions_for_its_pods_has_a_lag_that_grows() -> None:
    few = {each.deployment: each for each in simulate(2_000, 0.5, 1, partitions=240, failures=[])}
    planned = {each.deployment: each for each in simulate(2_000, 0.5, 1, failures=[])}
    assert few["storing"].backlog > 10_000
    assert all(each.backlog < 1_000 for each in planned.values())


def test_failures_of_a_short_day_end_within_it() -> None:
    for hours in (0.5, 3, 24):
        assert all(each.begins + each.seconds < hours * 3_600 for each in failures_of(hours))
    assert len(failures_of(24)) == 4
