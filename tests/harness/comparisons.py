"""A comparison in which every text that others can choose is hostile."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from workers.comparison.gates import GateResult, read_gate, try_gate
from workers.comparison.results import (
    FIGURES,
    ChangedAnswer,
    ClaimPair,
    Comparison,
    Findings,
    Levels,
    Side,
    findings,
)
from workers.comparison.statistics import Agreement
from workers.comparison.tallies import BUCKETS, MEASURES, PARTS, Tally

HOSTILE = (
    "</style><script>window.owned = 1</script><img src=x onerror='window.owned = 1'><svg onload=window.owned=1>"
    "<a href=javascript:window.owned=1>x</a><style>*{display:none}</style><link rel=stylesheet href=//evil.test/x>"
    "<iframe src=//evil.test></iframe><meta http-equiv=refresh content='0;url=//evil.test'>{{ 7 * 7 }}\u202e\x07\x1b[2J"
)


def hostile_findings() -> tuple[Findings, Sequence[GateResult]]:
    """What it comes to, and three gates: passed, failed, not to be told."""
    generator = np.random.default_rng(1)
    tally = Tally(np.full(BUCKETS, 10.0))
    tally.sums[PARTS.index("known")] = 10
    tally.sums[PARTS.index("a")] = 7
    tally.sums[PARTS.index("b")] = 6
    tally.sums[PARTS.index("difference")] = generator.normal(-1, 0.5, (BUCKETS, len(MEASURES)))
    tally.sums[PARTS.index("down")] = 4
    # One that B no longer knows at all.
    lost = MEASURES.index("freshness")
    tally.sums[:, :, lost] = 0
    tally.sums[PARTS.index("became_null"), :, lost] = 10
    levels = Counter({
        Levels(("released", "held"), ("low", HOSTILE), (False, True), reasons_moved=True, scores_moved=True): 800,
        Levels(("released", "released"), ("low", "low"), (False, False), reasons_moved=False, scores_moved=False): 1_200,
    })  # fmt: skip
    answer = ChangedAnswer(
        HOSTILE, HOSTILE, datetime(2026, 11, 1, tzinfo=UTC), 3.5, ("released", HOSTILE), ("low", HOSTILE), (False, True),
        ([], [HOSTILE]), {"grounding_score": (0.9, None)}, HOSTILE, HOSTILE * 3,
        [ClaimPair(0, 4, HOSTILE, HOSTILE, 0.5, None, None), ClaimPair(5, 9, "Plain.", "supported", 1.0, "unsupported", 0.0)],
    )  # fmt: skip
    comparison = Comparison(
        Side(HOSTILE, {HOSTILE: 2_000}, 3), Side("b" * 200, {"v" * 200: 2_000}, 0), levels, tally,
        {("model", HOSTILE): tally, ("source", "w" * 300): tally}, {"model": 0, "source": 12},
        np.full((15, 10, 10), 20), [Agreement("claims", 50, 3, 20, 4), Agreement("decisions"), Agreement("ratings", 1, 1, 1)],
        [answer, answer],
    )  # fmt: skip
    found = findings(comparison)
    gates = [
        try_gate(read_gate(text, FIGURES), found.figures) for text in ("held.b > 2", "changed > 0", "decisions.a < 1")
    ]
    return found, gates
