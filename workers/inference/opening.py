"""Load the models that the settings name, outside the event loop, and start their services."""

import asyncio
from importlib.resources import files
from pathlib import Path

from workers.errors import TouchstoneError
from workers.evaluation.grounding.verifier_combination import VerifierCombination, read_combination, shipped_path
from workers.evaluation.thresholds import GroundingThresholds
from workers.inference.backends import EmbeddingBackend, SentenceTransformerBackend
from workers.inference.embedding import EmbeddingService
from workers.inference.int8 import Int8Backend
from workers.inference.transformer_verifier import TransformerVerifier
from workers.inference.verification import VerificationService
from workers.inference.verifying import Int8Verifier, VerifierBackend, VerifierUnusable, file_version
from workers.settings import Settings
from workers.stores.redis.shared_vector_store import SharedVectors

BUILTIN = "builtin"
"""Name of the packaged verifier in the settings."""


class Fp32Unusable(TouchstoneError):
    """The model cannot be used in fp32; the message names the cause and the remedy."""


def open_backend(settings: Settings) -> EmbeddingBackend:
    """Load the embedding model, which takes seconds.

    Raises:
        Int8Unusable: the precision is int8, and a library is missing or the model cannot be exported.
        Fp32Unusable: the precision is fp32, and a library is missing.
    """
    inference = settings.inference
    if inference.precision == "int8":
        return Int8Backend(inference.model, inference.export_dir or settings.state_dir / "models", inference.threads)
    try:
        return SentenceTransformerBackend(inference.model, inference.threads)
    except ModuleNotFoundError as error:
        raise Fp32Unusable(
            f"inference.precision is fp32, but {error.name} is not installed; set inference.precision to int8, or use an "
            "image with PyTorch"
        ) from error


async def open_embedding(
    settings: Settings, backend: EmbeddingBackend | None = None, shared: SharedVectors | None = None
) -> EmbeddingService:
    """Start the embedding service; the caller stops it.

    Args:
        settings: model, precision, batches, cache.
        backend: the model, if it is already loaded.
        shared: vectors shared with other workers, ``None`` if not shared; closed with the service.

    Raises:
        Int8Unusable, Fp32Unusable: see :func:`open_backend`.
    """
    if backend is None:
        backend = await asyncio.to_thread(open_backend, settings)
    service = EmbeddingService(backend, settings.inference, shared)
    service.start()
    return service


def verifier_file(verifier: str) -> Path | None:
    """Return the ONNX file of the packaged verifier or of a path that ends with ``.onnx``, else ``None``."""
    if verifier == BUILTIN:
        return Path(str(files("workers") / "data" / "verifier.int8.onnx"))
    return Path(verifier) if verifier.endswith(".onnx") else None


def open_verifier(settings: Settings) -> VerifierBackend | None:
    """Load the verifier of the settings, which takes seconds; return ``None`` if they name none.

    Raises:
        VerifierUnusable: the verifier is missing or cannot be used; the message names the remedy.
    """
    name, threads = settings.grounding.verifier, settings.inference.threads
    if not settings.grounding.has_verifier:
        return None
    path = verifier_file(name)
    if path is None:
        _refuse_other_weights(settings.grounding)
        try:
            return TransformerVerifier(name, threads)
        except ModuleNotFoundError as error:
            raise VerifierUnusable(
                f"grounding.verifier is {name}, but {error.name} is not installed; name a file in ONNX, or use an image "
                "with PyTorch"
            ) from error
    if not path.is_file():
        if name == BUILTIN:
            raise VerifierUnusable(
                f"grounding.verifier is {name}, but the package lacks {path}; install the package again, "
                "or set grounding.verifier to none"
            )
        raise VerifierUnusable(
            f"grounding.verifier is {name}, but this file does not exist; set it to none, "
            "or to the name, folder or .onnx file of a cross-encoder"
        )
    _check_weights(settings.grounding, path)
    return Int8Verifier(path, name, threads)


def _fitted_for(thresholds: GroundingThresholds) -> str | None:
    # Without a combination no answer is evaluated, but the verifier's time can still be measured.
    combination = open_combination(thresholds) if combination_path(thresholds) else None
    return combination.weights if combination else None


def _refuse_other_weights(thresholds: GroundingThresholds) -> None:
    if (fitted_for := _fitted_for(thresholds)) is not None:
        raise VerifierUnusable(
            f"grounding.verifier is {thresholds.verifier}, but {combination_path(thresholds)} was fitted for the "
            f"file with sha256 {fitted_for[:12]}; set grounding.verifier_combination to a file fitted for this "
            "verifier, or grounding.verifier to builtin or none"
        )


def _check_weights(thresholds: GroundingThresholds, path: Path) -> None:
    fitted_for = _fitted_for(thresholds)
    if fitted_for is not None and fitted_for != (found := file_version(path)):
        raise VerifierUnusable(
            f"grounding.verifier is {thresholds.verifier}, but {combination_path(thresholds)} was fitted for "
            f"another file: {path} has sha256 {found[:12]} instead of {fitted_for[:12]}; restore the file, or fit "
            "a combination and set grounding.verifier_combination, or set grounding.verifier to none"
        )


async def open_verification(settings: Settings, backend: VerifierBackend | None = None) -> VerificationService | None:
    """Start the verification service; return ``None`` if the settings name no verifier. The caller stops it.

    Args:
        settings: verifier, batches, cache.
        backend: the verifier, if it is already loaded.

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
    """Return the file that combines the verifier's scores with the rules.

    The settings may name the file. Without a name, the packaged verifier uses the package's file;
    for any other verifier the result is ``None``, since the package's file was not fitted for it.
    """
    return thresholds.verifier_combination or (shipped_path() if thresholds.verifier == BUILTIN else None)


def open_combination(thresholds: GroundingThresholds) -> VerifierCombination | None:
    """Read the combination of the verifier with the rules; return ``None`` if the settings name no verifier.

    Raises:
        VerifierUnusable: no file is named, or the file is missing or no combination.
    """
    if not thresholds.has_verifier:
        return None
    path = combination_path(thresholds)
    if path is None:
        raise VerifierUnusable(
            f"grounding.verifier is {thresholds.verifier} without a combination with the rules; set "
            "grounding.verifier_combination to a file fitted for this verifier, or grounding.verifier to builtin "
            "or none"
        )
    try:
        return read_combination(path.read_bytes())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise VerifierUnusable(
            f"grounding.verifier is {thresholds.verifier}, but its combination {path} cannot be used ({reason}); "
            "set grounding.verifier_combination to a file fitted for this verifier, or grounding.verifier to none"
        ) from error
