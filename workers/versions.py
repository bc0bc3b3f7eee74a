"""The version of the pipeline: which judgements it would make."""

from functools import lru_cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files

from pydantic_core import to_json

from workers.settings import Settings
from workers.steps.calibration import CALIBRATION

RULES_VERSION = "2026.11.3"
"""Version of the rules in ``workers.steps``; changes whenever a judgement could."""


def package_version() -> str:
    """Version of the installed package, or 0 in a bare checkout."""
    try:
        return version("touchstone-worker")
    except PackageNotFoundError:
        return "0"


@lru_cache
def _digest(name: str) -> str:
    return sha256((files("workers") / "data" / name).read_bytes()).hexdigest()


def pipeline_version(settings: Settings) -> str:
    """A readable fingerprint of rules, model and thresholds.

    Returns:
        For example ``2026.11.3-a1b2c3d4``; equal settings and rules give equal versions.
    """
    parts = {
        "rules": RULES_VERSION,
        "model": settings.inference.model,
        "calibration": _digest(CALIBRATION),
        "grounding": settings.grounding.model_dump(),
        "quality": settings.quality.model_dump(),
        "gate": settings.gate.model_dump(),
        "decision": settings.decision.model_dump(),
        "release": settings.release.model_dump(
            include={"default_risk_mode", "style", "inline_citations", "ungrounded_claims", "url_rules"}
        ),
        "memory": settings.memory.model_dump(include={"remember_without_context", "earlier_answers"}),
    }
    if settings.privacy.is_on:
        # What is masked is judged as its mask. The key changes no judgement.
        parts["privacy"] = settings.privacy.model_dump(exclude={"key"})
    return f"{RULES_VERSION}-{sha256(to_json(parts)).hexdigest()[:8]}"


def rule_versions(settings: Settings, *parts: str) -> dict[str, str]:
    """Versions to put into a report.

    Args:
        settings: all settings.
        parts: what took part besides the rules: ``embedding``.
    """
    versions = {"rules": RULES_VERSION}
    if "embedding" in parts:
        versions["embedding"] = settings.inference.model
    return versions
