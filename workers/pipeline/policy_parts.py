"""Describe the decision policy and the texts for readers as parts of a pipeline version.

The default table and the usual texts are code. A console of a later version could not say what they were, so that their
values are parts, and not only the digest of the code.
"""

from pydantic_core import to_json

from schemas.base import RiskMode
from workers.decision.policy import DecisionPolicy
from workers.decision.reader_text.reader_texts import REPLACEABLE, TextsByLanguage, texts_of
from workers.decision.reader_text.texts_by_language import TEXTS

MODES: tuple[RiskMode, ...] = ("gatekeeper", "observer")
EFFECTS, TEXTS_FOR_READERS = "decision.effects.", "texts."
"""Beginnings of the names of parts: the effects of reasons, and the texts for readers by language."""


def policy_parts(policy: DecisionPolicy) -> dict[str, str]:
    """Return the policy by part: the effect of each reason in each mode as JSON, and all other settings.

    Effects hold for answers without an override. They contain what settings replace, so that equal effects are equal parts.
    """
    plain = policy.model_copy(update={"overrides": ()}).resolved("", None)
    effects = {
        f"{EFFECTS}{reason}.{mode}": to_json(plain.effect(reason, mode)).decode()
        for reason in plain.table
        for mode in MODES
    }
    minima = {f"decision.evaluators.{name}.minimum": str(each.minimum) for name, each in policy.evaluators.items()}
    others = policy.model_dump(mode="json", exclude={"rows", "evaluators"})
    return effects | minima | {f"decision.{name}": to_json(value).decode() for name, value in others.items()}


def text_parts(changes: TextsByLanguage) -> dict[str, str]:
    """Return the texts for readers by part, such as ``texts.en.fallback``.

    Args:
        changes: texts of the settings by language and name.
    """
    return {
        f"{TEXTS_FOR_READERS}{language}.{name}": getattr(texts_of(language, changes), name)
        for language in TEXTS
        for name in REPLACEABLE
    }
