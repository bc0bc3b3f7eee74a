"""Rewards as a function of the query: features, the linear posterior, and a router that uses it."""

import random
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import ValidationError

from schemas.feedback import LINEAR_TERMS, QUERY_FEATURES, ExecutionSignals, LinearPosterior, ModelPosterior
from workers.feedback.beta_posterior import WeightedRewards, model_posterior
from workers.feedback.contextual_reward import (
    WeightedMoments,
    linear_posterior,
    predicted,
    query_features,
    terms,
)
from workers.feedback.model_choice import RoutingContext, choose_model
from workers.inference.backends import SentenceTransformerBackend

NOW = datetime(2026, 11, 2, tzinfo=UTC)
DIMENSIONS = 384
Seen = list[tuple[list[float], float]]


def direction(number: int) -> NDArray[np.float64]:
    """A query vector of length 1."""
    vector = np.random.default_rng(number).standard_normal(DIMENSIONS)
    return vector / np.linalg.norm(vector)


def moments(seen: Seen, model: str = "m", weight: float = 1.0) -> WeightedMoments:
    """As ClickHouse sums them."""
    rows = np.array([terms(features) for features, _ in seen]).reshape(-1, LINEAR_TERMS)
    difference = np.array([reward - 0.5 for _, reward in seen])
    products = (weight * rows.T @ rows)[np.triu_indices(LINEAR_TERMS)]
    squares = float(weight * difference @ difference)
    return WeightedMoments("acme", model, "", products, weight * rows.T @ difference, squares, weight * len(seen))


def posterior(model: str, seen: Seen) -> ModelPosterior:
    good = sum(reward for _, reward in seen)
    rewards = WeightedRewards("acme", model, "", good, len(seen) - good)
    return model_posterior(rewards, NOW, linear=linear_posterior(moments(seen)))


def test_features_are_the_same_everywhere_and_for_ever() -> None:
    vector = np.zeros(DIMENSIONS)
    vector[0], vector[300] = 0.6, 0.8
    assert query_features(vector) == [
        0.35, -0.05, 0.35, -0.05, 0.05, -0.05, 0.35, 0.35, 0.35, 0.35, 0.05, 0.35, 0.05, -0.35, 0.05, -0.35,
    ]  # fmt: skip


def test_features_keep_the_distances_of_queries_well_enough_to_tell_topics_apart(
    backend: SentenceTransformerBackend,
) -> None:
    topics = (
        ["Why do pods restart in the cluster?", "The deployment of pods is stuck in the cluster."],
        ["Which invoices are overdue in October?", "Show the overdue invoices of October."],
        ["A poem about autumn leaves", "Write a poem about the leaves in autumn."],
    )
    vectors = backend.encode([text for topic in topics for text in topic])
    found = [np.array(query_features(vector)) for vector in vectors]
    near = [float(np.linalg.norm(found[n] - found[n + 1])) for n in (0, 2, 4)]
    far = [float(np.linalg.norm(a - b)) for n, a in enumerate(found) for m, b in enumerate(found) if m // 2 > n // 2]
    assert max(near) < min(far)
    assert all(0.5 < float(np.linalg.norm(features)) < 1.6 for features in found)


def test_a_model_that_nobody_knows_may_be_good_or_bad() -> None:
    mean, deviation = predicted(None, query_features(direction(1)))
    assert mean == 0.5 and 0.3 < deviation < 0.6
    assert predicted(linear_posterior(moments([])), query_features(direction(1))) == pytest.approx((mean, deviation))


def test_what_the_reward_owes_to_the_query_is_learned() -> None:
    rng = np.random.default_rng(3)
    coefficients = np.concatenate([[0.1], rng.normal(0, 0.15, QUERY_FEATURES)])
    seen: Seen = []
    for number in range(2_000):
        features = query_features(direction(number))
        seen.append((features, 0.5 + float(terms(features) @ coefficients) + rng.normal(0, 0.1)))
    known = linear_posterior(moments(seen))
    for number in range(5_000, 5_020):
        features = query_features(direction(number))
        mean, deviation = predicted(known, features)
        assert mean == pytest.approx(0.5 + float(terms(features) @ coefficients), abs=5 * deviation + 0.005)
        assert deviation < 0.02
    assert known.variance == pytest.approx(0.01, rel=0.25)


seen_lists = st.lists(
    st.tuples(st.integers(0, 30), st.floats(0, 1)).map(lambda pair: (query_features(direction(pair[0])), pair[1])),
    min_size=1,
    max_size=8,
)


@given(seen_lists, st.randoms(use_true_random=False))
def test_the_order_of_rewards_does_not_matter(seen: Seen, rng: random.Random) -> None:
    shuffled = list(seen)
    rng.shuffle(shuffled)
    one, other = (linear_posterior(moments(each)) for each in (seen, shuffled))
    query = query_features(direction(77))
    assert predicted(one, query) == pytest.approx(predicted(other, query), rel=1e-5)


@given(seen_lists, st.integers(0, 30))
def test_more_evidence_never_widens_what_is_thought_of_the_coefficients(seen: Seen, number: int) -> None:
    features = query_features(direction(number))

    def doubt(known: LinearPosterior) -> float:
        return predicted(known, features)[1] / known.variance**0.5

    assert doubt(linear_posterior(moments(seen))) <= doubt(linear_posterior(moments(seen[:-1]))) + 1e-6
    old = linear_posterior(moments(seen, weight=0.25))
    assert doubt(old) >= doubt(linear_posterior(moments(seen))) - 1e-6, "what is forgotten is doubted again"


def test_a_router_learns_which_model_is_good_at_what_without_query_types() -> None:
    code, prose = direction(1), direction(2)
    posteriors = [
        posterior("coder", [(query_features(code), 0.9), (query_features(prose), 0.2)] * 60),
        posterior("writer", [(query_features(code), 0.2), (query_features(prose), 0.9)] * 60),
    ]
    rng = random.Random(5)

    def chosen(vector: NDArray[Any] | None) -> Counter[str]:
        context = RoutingContext(["coder", "writer"], tenant="acme", query_vector=vector)
        return Counter(choose_model(posteriors, context, rng) for _ in range(200))

    assert chosen(code)["coder"] > 190
    assert chosen(prose)["writer"] > 190
    assert 60 < chosen(None)["coder"] < 140, "on the whole they are equal"


def test_a_model_without_linear_posterior_is_tried() -> None:
    plain = posterior("plain", []).model_copy(update={"linear": None})
    bad = posterior("bad", [(query_features(direction(1)), 0.1)] * 50)
    context = RoutingContext(["plain", "bad"], tenant="acme", query_vector=direction(1))
    rng = random.Random(5)
    assert Counter(choose_model([plain, bad], context, rng) for _ in range(100))["plain"] > 60


def test_a_posterior_is_small_and_survives_its_record() -> None:
    known = posterior("m", [(query_features(direction(n)), 0.7) for n in range(100)])
    value = known.to_bytes()
    assert len(value) < 3_000
    assert ModelPosterior.from_bytes(value) == known


@pytest.mark.parametrize("features", [[0.1] * 15, [0.1] * 17, [1e300] * 16, [float("nan")] * 16])
def test_features_that_no_embedding_has_are_refused(features: list[float]) -> None:
    with pytest.raises(ValidationError, match="query_features"):
        ExecutionSignals(status="success", query_features=features)
