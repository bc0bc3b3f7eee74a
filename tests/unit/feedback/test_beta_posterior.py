"""Posteriors and how a gateway uses them."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.feedback import ModelPosterior
from workers.feedback.beta_posterior import WeightedRewards, age_reference, model_posterior
from workers.feedback.model_choice import RoutingContext, choose_model
from workers.stores.queries.posterior_queries import posterior_key

NOW = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
CONTEXT = RoutingContext(models=("good", "bad"), tenant="acme", query_type="ops")


def posterior(model: str, successes: float, failures: float, **changes: str) -> ModelPosterior:
    group = {"tenant": "acme", "query_type": "ops"} | changes
    rewards = WeightedRewards(group["tenant"], model, group["query_type"], successes, failures)
    return model_posterior(rewards, NOW)


def test_a_reward_counts_as_part_of_a_success_and_part_of_a_failure() -> None:
    found = posterior("m", 7.5, 2.5)
    assert (found.alpha, found.beta, found.observations) == (8.5, 3.5, 10)
    assert found.mean == pytest.approx(8.5 / 12)


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_a_posterior_is_between_prior_and_evidence(successes: float, failures: float) -> None:
    found = posterior("m", successes, failures)
    share = successes / (successes + failures) if successes + failures else 0.5
    assert min(0.5, share) - 1e-9 <= found.mean <= max(0.5, share) + 1e-9


def test_no_query_type_is_null() -> None:
    assert posterior("m", 1, 1, query_type="").query_type is None


def test_ages_stand_still_for_a_hundredth_of_a_half_life() -> None:
    half_life = 1.0
    references = {age_reference(NOW + timedelta(seconds=n), half_life) for n in range(0, 864 * 3, 10)}
    assert 3 <= len(references) <= 4
    assert all(NOW - timedelta(seconds=864) < reference <= NOW + timedelta(seconds=864 * 3) for reference in references)


def test_keys_cannot_run_together() -> None:
    keys = {
        posterior_key(posterior("b/c", 1, 1, tenant="a")),
        posterior_key(posterior("c", 1, 1, tenant="a/b")),
        posterior_key(posterior("c", 1, 1, tenant="a/b", query_type="")),
    }
    assert len(keys) == 3


def chosen(posteriors: list[ModelPosterior], context: RoutingContext = CONTEXT, draws: int = 1000) -> Counter[str]:
    rng = random.Random(7)
    return Counter(choose_model(posteriors, context, rng) for _ in range(draws))


def test_the_better_model_is_chosen_and_the_worse_still_tried() -> None:
    counts = chosen([posterior("good", 16, 4), posterior("bad", 12, 8)])
    assert 0 < counts["bad"] < 200
    assert chosen([posterior("good", 1600, 400), posterior("bad", 1200, 800)])["bad"] == 0


def test_a_model_that_nobody_knows_is_tried() -> None:
    assert chosen([posterior("bad", 60, 40)])["good"] > 300


def test_what_other_tenants_and_other_queries_say_counts_nothing() -> None:
    foreign = [
        posterior("bad", 1000, 1, tenant="other"), posterior("bad", 1000, 1, query_type="sales"),
        posterior("bad", 1000, 1, query_type=""),
    ]  # fmt: skip
    counts = chosen([posterior("good", 100, 10), posterior("bad", 10, 100), *foreign])
    assert counts["good"] == 1000


def test_only_those_that_may_answer_are_chosen() -> None:
    alone = RoutingContext(models=["bad"], tenant="acme", query_type="ops")
    assert chosen([posterior("good", 100, 1)], alone, 10) == {"bad": 10}
    with pytest.raises(ValueError, match="at least one"):
        choose_model([], RoutingContext(models=[]))


def test_a_seed_repeats_the_choice() -> None:
    posteriors = [posterior("good", 3, 2), posterior("bad", 2, 3)]
    picks = [[choose_model(posteriors, CONTEXT, random.Random(seed)) for seed in range(20)] for _ in range(2)]
    assert picks[0] == picks[1]
