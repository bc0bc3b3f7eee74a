"""The version of the pipeline: a fingerprint of all that can change a judgement.

Of the rules it takes the code itself, without comments, docstrings and layout, so that nobody
has to remember to raise a number, and no remark in the code makes a new version.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from platform import machine
from typing import Any

from pydantic_core import from_json, to_json

from workers.inference.backends import model_digest
from workers.inference.opening import combination_path, verifier_file
from workers.inference.verifying import file_version
from workers.settings import Settings
from workers.steps.calibration import CALIBRATION
from workers.steps.pattern_packs import LANGUAGES, PatternPack
from workers.steps.thresholds import GroundingThresholds

RELEASE = "2026.11"
"""Year and month of this line of rules, for people."""

JUDGING = (
    "workers.steps.citations",
    "workers.steps.grounding",
    "workers.steps.quality",
    "workers.steps.enrichment",
    "workers.steps.trimming",
    "workers.inference.backends",
)
"""Modules that judge; what they import of ``workers.steps`` counts as well."""

MASKING = ("workers.steps.masking", "workers.steps.personal")
"""Modules that decide what is judged in place of what was written."""

QUANTISING = ("workers.inference.int8", "workers.inference.exporting")
"""Modules that make the vectors in int8."""

VERIFYING = (
    "workers.inference.verifying",
    "workers.inference.transformer_verifier",
    "workers.inference.verifier_labels",
)
"""Modules that make a verifier's verdicts."""

EMBEDDING = ("workers.inference.backends",)
"""Modules that make the vectors in fp32."""

EMBEDDERS = ("numpy", "sentence-transformers", "tokenizers", "torch", "transformers")
"""Libraries that take part in a vector, also by exporting its model."""

QUANTISERS = ("onnx", "onnxruntime", "tokenizers")
"""Their libraries."""

LIBRARIES = ("google-re2", "markdown-it-py", "numpy", "sentence-transformers", "sentencex", "torch", "transformers")
"""Libraries that take part in a judgement; another version of theirs may cut a sentence otherwise."""

SHORT = 6
"""Digits of the fingerprint, hexadecimal: of a thousand versions two are alike with a chance of 3 %."""


def package_version() -> str:
    """Version of the installed package, or 0 in a bare checkout."""
    try:
        return version("touchstone-worker")
    except PackageNotFoundError:
        return "0"


def pipeline_version(settings: Settings) -> str:
    """A readable fingerprint of rules, calibration, model, pattern packs and thresholds.

    Returns:
        For example ``2026.11-grounding3-a1b2c3``, with the number of the grounding calibration;
        versions are equal if and only if their parts are.
    """
    fingerprint = _digest(to_json(version_parts(settings)))[:SHORT]
    return f"{RELEASE}-grounding{_calibration()['version']}-{fingerprint}"


def version_parts(settings: Settings) -> dict[str, str]:
    """What the fingerprint is made of, by name; two versions differ in the parts that differ."""
    judged = {
        "grounding": settings.grounding.model_dump(mode="json", exclude={"verifier", "verifier_combination"}),
        "quality": settings.quality.model_dump(mode="json", exclude={"packs"})
        | {"packs": [f"{pack.name}@{_pack_digest(pack)}" for pack in settings.quality.packs]},
        "gate": settings.gate.model_dump(mode="json"),
        "decision": settings.decision.model_dump(mode="json"),
        "release": settings.release.model_dump(
            mode="json", include={"default_risk_mode", "style", "inline_citations", "ungrounded_claims", "url_rules"}
        ),
        "memory": settings.memory.model_dump(mode="json", include={"remember_without_context", "earlier_answers"}),
    }
    if settings.privacy.is_on:
        # What is masked is judged as its mask. The key changes no judgement.
        judged["privacy"] = settings.privacy.model_dump(mode="json", exclude={"key"}) | {
            "rules": _masking_digest()[:12]
        }
    return {
        "rules": rules_digest()[:12],
        "calibration": _digest(to_json(_calibration()))[:12],
        "model": f"{settings.inference.model}@{_model_digest(settings.inference.model)[:12]}",
        **_precision(settings.inference.precision),
        **_verifier(settings.grounding),
        **{f"pack.{language}": _pack_digest(pack) for language, pack in LANGUAGES.items()},
        **{f"library.{name}": version(name) for name in LIBRARIES},
        **dict(_flat(judged, "")),
    }


def vectors_version(settings: Settings) -> str:
    """Name of all that decides on a text's vector, for whoever takes vectors that another process has made.

    Returns:
        For example ``all-MiniLM-L6-v2@`` and 16 hexadecimal digits.
    """
    inference = settings.inference
    parts = {
        "model": _model_digest(inference.model),
        "code": digest_of_code({name: _source(name) for name in EMBEDDING}),
        "machine": machine(),
        **_precision(inference.precision),
        **{f"library.{name}": version(name) for name in EMBEDDERS},
    }
    return f"{inference.model}@{_digest(to_json(parts))[:16]}"


def differences(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, list[str | None]]:
    """The parts in which two versions differ, with the value of each; ``None`` where it has no such part."""
    names = sorted(old.keys() | new.keys())
    return {name: [old.get(name), new.get(name)] for name in names if old.get(name) != new.get(name)}


def rule_versions(settings: Settings, *parts: str) -> dict[str, str]:
    """Versions to put into a report.

    Args:
        settings: all settings.
        parts: what took part besides the rules: ``embedding``, ``verifier``.
    """
    versions = {"rules": f"{RELEASE}-{rules_digest()[:SHORT]}"}
    if "embedding" in parts:
        versions["embedding"] = settings.inference.model_name
    if "verifier" in parts:
        versions |= _verifier_versions(settings.grounding.verifier, combination_path(settings.grounding))
    return versions


def _precision(precision: str) -> dict[str, str]:
    # Of fp32 nothing is said, so that it is the same version as before there was another one.
    if precision == "fp32":
        return {}
    rules = digest_of_code({name: _source(name) for name in QUANTISING})
    return {"precision": f"{precision}@{rules[:12]}"} | {f"library.{name}": _library(name) for name in QUANTISERS}


def _verifier(thresholds: GroundingThresholds) -> dict[str, str]:
    # Of none nothing is said, as with fp32.
    if not thresholds.has_verifier:
        return {}
    rules = digest_of_code({name: _source(name) for name in VERIFYING})
    return {
        "verifier": _verifier_version(thresholds.verifier),
        "verifier.rules": rules[:12],
        "verifier.combination": _combination_version(combination_path(thresholds)),
    } | {f"library.{name}": _library(name) for name in QUANTISERS}


@cache
def _verifier_versions(verifier: str, combination: Path | None) -> dict[str, str]:
    """For reports: read once, as the models are."""
    return {"verifier": _verifier_version(verifier), "verifier.combination": _combination_version(combination)}


@cache
def _verifier_version(verifier: str) -> str:
    """Name and weights of a verifier; of a model at the hub its name alone.

    Of a file or folder the last part of its path: the same one lies elsewhere on another machine.
    """
    file = verifier_file(verifier)
    name = Path(verifier).name if file or Path(verifier).is_dir() else verifier
    return f"{name}@{(model_digest(verifier) if file is None else file_version(file))[:12]}"


def _combination_version(path: Path | None) -> str:
    return "missing" if path is None else file_version(path)[:12]


def _library(name: str) -> str:
    # Whoever opens the model says what is missing, and how to get it.
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


@cache
def rules_digest() -> str:
    """Digest of the code that judges."""
    return digest_of_code({name: _source(name) for name in judging_modules()})


@cache
def _masking_digest() -> str:
    """Digest of the code that masks, which counts where something is masked."""
    return digest_of_code({name: _source(name) for name in MASKING})


@cache
def judging_modules() -> tuple[str, ...]:
    """Names of the modules that take part in a judgement, in order."""
    found: set[str] = set()
    open_modules = list(JUDGING)
    while open_modules:
        name = open_modules.pop()
        if name not in found:
            found.add(name)
            open_modules += _imported_steps(ast.parse(_source(name)))
    return tuple(sorted(found))


def digest_of_code(sources: Mapping[str, str]) -> str:
    """Digest of modules by what they do: comments, docstrings and layout count for nothing."""
    return _digest(to_json({name: _bare(source) for name, source in sources.items()}))


def _imported_steps(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "workers.steps":
            yield from (f"workers.steps.{each.name}" for each in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("workers.steps."):
            yield node.module or ""


def _bare(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            # Strings that stand alone: docstrings of functions, and those below an attribute.
            node.body = [each for each in body if not _is_remark(each)]  # type: ignore[attr-defined]
    return ast.unparse(tree)


def _is_remark(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


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
    return _digest(pack.model_dump_json().encode())[:12]


def _flat(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, to_json(value).decode()


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
