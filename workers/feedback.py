"""For gateways: choose a model by what people did with its answers (Thompson sampling).

Read the compacted topic ``routing.posteriors`` from its beginning, keep the last record of each
key (a record without value removes its key), and ask for each query::

    context = RoutingContext(models=["small", "large"], tenant="acme", query_type="ops")
    model = choose_model(posteriors.values(), context)

A model that looks worse is still tried as often as it is likely to be better; one that nobody
knows yet is tried soon.

A router that embeds queries with the worker's model (``inference.model``) may add the vector::

    context = RoutingContext(models=["small", "large"], query_vector=model.encode(query))

Then each model's reward is drawn for this very query: which model is good at what is learned
without anybody having sorted queries into types.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.feedback import ModelPosterior
from workers.steps.contextual import predicted, query_features

UNKNOWN = (1.0, 1.0)
"""Beta parameters of a model without posterior: any quality is as likely."""

_random = random.Random()


@dataclass(frozen=True, slots=True)
class RoutingContext:
    """What is asked of whom.

    Attributes:
        models: those that may answer; at least one.
        tenant: who asks.
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
        posteriors: the latest of each key, of any tenants and query types.
        context: who asks what, and who may answer.
        rng: where chance comes from; seeded, the choice can be repeated.

    Returns:
        One of ``context.models``.

    Raises:
        ValueError: no model may answer.
    """
    if not context.models:
        raise ValueError("no model may answer; name at least one in context.models")
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
