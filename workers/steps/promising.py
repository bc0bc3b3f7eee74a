"""Which units of evidence are promising for a claim: only their meaning is compared, and only they are embedded.

The model is most of what judgement costs, and two thirds of the texts that it reads are evidence. Words and figures of
a claim are looked up in all of the evidence, which is cheap; meaning tells which of the units that come into question
is the right one. A unit comes into question

- if it is among the ``PROMISING`` of its source with most of the claim's words, or with most of those of the claim and
  what it leans on;
- if fewer units of its source than that have any of these words: a paraphrase shares few, another language a name;
- in a record, whose fields say what they are about, only if none has;
- if it holds other units (the whole of a record).

What comes into question for a claim depends on no other claim and on no other source, so that neither a further claim
nor a further source takes any away, as long as there are not more units than are looked at at all: grounding's risk
stays monotone in both.

Measured in int8 on two sets of RAGTruth and on ClapNQ: of the text of units 72, 65 and 80 % are embedded, and the area
under the curve over answers stays where it was to the third decimal (0.814, 0.880, 0.920), as over claims (0.802,
0.875). With one unit of each source 41, 37 and 44 % are, and 0.812, 0.875 and 0.922 are left (decision 0034).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workers.steps.evidence import EvidenceUnit, shared_words, single_units

PROMISING = 3
"""Units of a source whose meaning is compared with a claim."""


def promising(claims: Sequence[frozenset[str]], units: Sequence[EvidenceUnit]) -> NDArray[np.bool_]:
    """Which of m units come into question for each of n claims, shape [n, m]; at least one of every source.

    Args:
        claims: stems of each claim's content words.
        units: the evidence.
    """
    chosen = np.ones((len(claims), len(units)), dtype=bool)
    single = np.zeros(len(units), dtype=bool)
    single[single_units(units)] = True
    numbers = np.array([unit.number for unit in units])
    counts = shared_words(claims, [unit.words for unit in units])
    for number in dict.fromkeys(numbers.tolist()):
        places = np.flatnonzero(single & (numbers == number))
        if len(places) <= PROMISING:
            continue
        of_source = counts[:, places]
        # A stable sort prefers earlier units: what matters most stands first.
        best = np.argsort(-of_source, axis=1, kind="stable")[:, :PROMISING]
        among = np.zeros(of_source.shape, dtype=bool)
        np.put_along_axis(among, best, values=True, axis=1)
        enough = 1 if units[places[0]].of_record else PROMISING
        has_enough = (of_source > 0).sum(axis=1, keepdims=True) >= enough
        chosen[:, places] = among | ~has_enough
    return chosen
