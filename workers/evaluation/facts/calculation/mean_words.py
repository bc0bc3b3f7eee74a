"""List the words that call a figure a mean, in the languages of the answers."""

import re

from workers.evaluation.text.prefilter import PrefilteredPattern

MEAN = PrefilteredPattern(
    r"\b(?:average[ds]?|averag(?:ing|ely)|mean|midway|midpoint|half ?way between|durchschnitt\w*|im schnitt|mittel\w*|mittler\w*|moyen\w*"
    r"|promedi\w*|medias?|mediamente|em média|médi[ao]s?|gemiddelde?|średni\w*|przeciętn\w*|средн\w*|genomsnitt\w*|gennemsnit\w*"
    r"|keskimäärin|ortalama\w*)\b|平均|평균|متوسط|औसत",
    re.IGNORECASE,
)
"""Words of a mean: "on average", "im Schnitt", "en moyenne"."""
