"""Loading the models that the settings name, off the loop, and the services in front of them."""

import asyncio
from importlib.resources import files
from pathlib import Path

from workers.inference.backends import EmbeddingBackend, SentenceTransformerBackend
from workers.inference.embedding import EmbeddingService
from workers.inference.int8 import Int8Backend
from workers.inference.transformer_verifier import TransformerVerifier
from workers.inference.verification import VerificationService
from workers.inference.verifying import Int8Verifier, VerifierBackend, VerifierUnusable, file_version
from workers.settings import Settings
from workers.steps.thresholds import GroundingThresholds
from workers.steps.verifier_combination import VerifierCombination, read_combination, shipped_path
from workers.stores.vectors import SharedVectors

BUILTIN = "builtin"
"""The setting's name of the packaged verifier."""


def open_backend(settings: Settings) -> EmbeddingBackend:
    """The model; takes seconds.

    Raises:
        Int8Unusable: int8 is asked for, and a library is missing or the model cannot be exported.
    """
    inference = settings.inference
    if inference.precision == "int8":
        return Int8Backend(inference.model, inference.export_dir or settings.state_dir / "models", inference.threads)
    return SentenceTransformerBackend(inference.model, inference.threads)


async def open_embedding(
    settings: Settings, backend: EmbeddingBackend | None = None, shared: SharedVectors | None = None
) -> EmbeddingService:
    """The service, started; whoever opens it stops it.

    Args:
        settings: model, precision, batches, cache.
        backend: the model, if it is loaded already.
        shared: vectors of other workers, if they are shared; closed with the service.

    Raises:
        Int8Unusable: see :func:`open_backend`.
    """
    if backend is None:
        backend = await asyncio.to_thread(open_backend, settings)
    service = EmbeddingService(backend, settings.inference, shared)
    service.start()
    return service


def verifier_file(verifier: str) -> Path | None:
    """The file of a verifier that is one: the packaged one, or that of a path; ``None`` for others."""
    if verifier == BUILTIN:
        return Path(str(files("workers") / "data" / "verifier.int8.onnx"))
    return Path(verifier) if verifier.endswith(".onnx") else None


def open_verifier(settings: Settings) -> VerifierBackend | None:
    """The verifier of the settings, ``None`` if they name none; takes seconds.

    Raises:
        VerifierUnusable: it is not there or cannot be used; the message says what to do.
    """
    name, threads = settings.grounding.verifier, settings.inference.threads
    if not settings.grounding.has_verifier:
        return None
    path = verifier_file(name)
    if path is None:
        _refuse_other_weights(settings.grounding)
        return TransformerVerifier(name, threads)
    if not path.is_file():
        told = f"the package lacks {path}: install it again" if name == BUILTIN else "there is no such file"
        raise VerifierUnusable(
            f"grounding.verifier is {name}, and {told}; or set it to none, or to the name, folder or .onnx file of a "
            "cross-encoder"
        )
    _check_weights(settings.grounding, path)
    return Int8Verifier(path, name, threads)


def _fitted_for(thresholds: GroundingThresholds) -> str | None:
    # Without a combination nothing is judged; a verifier's time can be measured all the same.
    combination = open_combination(thresholds) if combination_path(thresholds) else None
    return combination.weights if combination else None


def _refuse_other_weights(thresholds: GroundingThresholds) -> None:
    if (fitted_for := _fitted_for(thresholds)) is not None:
        raise VerifierUnusable(
            f"grounding.verifier is {thresholds.verifier}, and {combination_path(thresholds)} was fitted for a file "
            f"(sha256 {fitted_for[:12]}), so nothing says what its probabilities are worth; set "
            "grounding.verifier_combination to one that was fitted for it and names no weights, or grounding.verifier "
            "to builtin or none"
        )


def _check_weights(thresholds: GroundingThresholds, path: Path) -> None:
    fitted_for = _fitted_for(thresholds)
    if fitted_for is not None and fitted_for != (found := file_version(path)):
        raise VerifierUnusable(
            f"grounding.verifier is {thresholds.verifier}, and {path} (sha256 {found[:12]}) is not the file that "
            f"{combination_path(thresholds)} was fitted for ({fitted_for[:12]}), so nothing says what its probabilities "
            "are worth; restore the one, or fit the other anew and set grounding.verifier_combination, or set "
            "grounding.verifier to none"
        )


async def open_verification(settings: Settings, backend: VerifierBackend | None = None) -> VerificationService | None:
    """The service, started, ``None`` if the settings name no verifier; whoever opens it stops it.

    Args:
        settings: verifier, batches, cache.
        backend: the verifier, if it is loaded already.

    Raises:
        VerifierUnusable: see :func:`open_verifier`.
    """
    if not settings.grounding.has_verifier:
        return None
    backend = backend or await asyncio.to_thread(open_verifier, settings)
    assert backend is not None
    service = VerificationService(backend, settings.inference)
    service.start()
    return service


def combination_path(thresholds: GroundingThresholds) -> Path | None:
    """The file that says how the verifier joins the rules: that of the settings, or for the packaged one the package's.

    ``None`` where another verifier comes without: the package's file was not fitted for it.
    """
    return thresholds.verifier_combination or (shipped_path() if thresholds.verifier == BUILTIN else None)


def open_combination(thresholds: GroundingThresholds) -> VerifierCombination | None:
    """How the verifier of the settings joins the rules, ``None`` if they name none.

    Raises:
        VerifierUnusable: the file is not there or is none, or none is named.
    """
    if not thresholds.has_verifier:
        return None
    path = combination_path(thresholds)
    if path is None:
        raise VerifierUnusable(
            f"grounding.verifier is {thresholds.verifier}, and nothing says how it joins the rules; set "
            "grounding.verifier_combination to a file fitted for it, or grounding.verifier to builtin or none"
        )
    try:
        return read_combination(path.read_bytes())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise VerifierUnusable(
            f"grounding.verifier is {thresholds.verifier}, and {path}, which says how it joins the rules, cannot be used "
            f"({reason}); set grounding.verifier_combination to a file fitted for it, or grounding.verifier to none"
        ) from error
