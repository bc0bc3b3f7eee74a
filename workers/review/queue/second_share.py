"""Choose which requests get further independent reviews, and when a reviewer gets one."""

import math
from datetime import datetime, timedelta

from workers.settings import ReviewSettings
from workers.stores.queries.reviews.blind_reviews import EVERY_TENANT, Sample

SECOND_OFFERED = timedelta(days=7)
"""Time after a decision, or after somebody asked for it, for which a second review is offered."""

_DIGITS = 8
"""Hexadecimal digits of a review identifier that decide; they come from a digest."""


def is_sampled(review_id: str, share: float) -> bool:
    """Return ``True`` if a request is in the sample, by the first digits of its identifier.

    An identifier that begins with other characters than hexadecimal digits is in no sample.
    """
    try:
        drawn = int(review_id[:_DIGITS], 16)
    except ValueError:
        return False
    return drawn < int(share * 16**_DIGITS)


def is_turn(number: int, share: float) -> bool:
    """Return ``True`` for a share of the numbers from 1 on, evenly spread."""
    # The sum of shares such as 2/3 must not stay below a whole number.
    return math.floor(number * share + 1e-9) > math.floor((number - 1) * share + 1e-9)


def sample_of(settings: ReviewSettings, reviewer: str, now: datetime) -> Sample:
    """Return the sample from which a reviewer gets requests for further reviews."""
    targets = {EVERY_TENANT: settings} | settings.tenants
    return Sample(
        reviewer,
        {tenant: (target.second_share, target.reviews) for tenant, target in targets.items()},
        now - SECOND_OFFERED,
    )
