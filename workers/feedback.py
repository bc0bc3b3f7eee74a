"""For gateways: choose a model by what people did with its answers (Thompson sampling).

Read the compacted topic ``routing.posteriors`` from its beginning, keep the last record of each
key (a record without value removes its key), and ask for each query::

    context = RoutingContext(models=["small", "large"], tenant="acme", query_type="ops")
    model = choose_model(posteriors.values(), context)

A model that looks worse is still tried as often as it is likely to be better; one that nobody
knows yet is tried soon.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.feedback import ModelPosterior

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
    """

    models: Sequence[str]
    tenant: str = "default"
    query_type: str | None = None


def choose_model(
    posteriors: Iterable[ModelPosterior], context: RoutingContext, rng: random.Random | None = None
) -> str:
    """Draw a quality for each model from its posterior and take the best.

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
        posterior.model_id: (posterior.alpha, posterior.beta)
        for posterior in posteriors
        if (posterior.tenant, posterior.query_type) == (context.tenant, context.query_type)
    }
    chance = rng or _random
    return max(context.models, key=lambda model: chance.betavariate(*known.get(model, UNKNOWN)))
