"""Choose a model for a gateway by the rewards of its answers (Thompson sampling).

Read the compacted topic ``routing.posteriors`` from its beginning, keep the last record of each
key (a record without value removes its key), and ask for each query::

    context = RoutingContext(models=["small", "large"], tenant="acme", query_type="ops")
    model = choose_model(posteriors.values(), context)

A model with lower rewards is still chosen with the probability that it is the best. A model without rewards is tried
soon.

A router that embeds queries with the worker's model (``inference.model``) may add the vector::

    context = RoutingContext(models=["small", "large"], query_vector=model.encode(query))

Each model's reward is then drawn for this query. The posteriors learn which model is good for which queries, without
query types.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.feedback import ModelPosterior
from workers.feedback.contextual_reward import predicted, query_features

UNKNOWN = (1.0, 1.0)
"""Beta parameters of a model without posterior: a uniform distribution."""

_random = random.Random()


@dataclass(frozen=True, slots=True)
class RoutingContext:
    """Describe the context of a routing decision.

    Attributes:
        models: candidate models, at least one.
        tenant: tenant of the query.
        query_type: the router's class of the query.
        query_vector: the query's embedding, of length 1; shape (dimensions,).
    """

    models: Sequence[str]
    tenant: str = "default"
    query_type: str | None = None
    query_vector: NDArray[np.floating] | None = None


def choose_model(
    posteriors: Iterable[ModelPosterior], context: RoutingContext, rng: random.Random | None = None
) -> str:
    """Draw a quality for each model from its posterior and take the best.

    With a query vector the quality is drawn from the linear posterior, as the reward of this query.

    Args:
        posteriors: the latest posterior of each key, for any tenants and query types.
        context: tenant, query and candidate models.
        rng: random number generator; with a seed the choice is reproducible.

    Returns:
        One of ``context.models``.

    Raises:
        ValueError: there is no candidate model.
    """
    if not context.models:
        raise ValueError("there is no candidate model; name at least one in context.models")
    known = {
        posterior.model_id: posterior
        for posterior in posteriors
        if (posterior.tenant, posterior.query_type) == (context.tenant, context.query_type)
    }
    chance = rng or _random
    if context.query_vector is None:
        return max(context.models, key=lambda model: _drawn(known.get(model), chance))
    features = query_features(context.query_vector)
    return max(context.models, key=lambda model: _drawn_for(known.get(model), features, chance))


def _drawn(posterior: ModelPosterior | None, chance: random.Random) -> float:
    return chance.betavariate(*(UNKNOWN if posterior is None else (posterior.alpha, posterior.beta)))


def _drawn_for(posterior: ModelPosterior | None, features: Sequence[float], chance: random.Random) -> float:
    return chance.gauss(*predicted(None if posterior is None else posterior.linear, features))
