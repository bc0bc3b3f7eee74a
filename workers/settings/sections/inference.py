"""Define the settings of the models."""

from pathlib import Path
from typing import Literal

from pydantic import (
    Field,
)

from workers.settings.sections.groups import Count, Group, Positive


class InferenceSettings(Group):
    """Configure the embedding model, and the settings that a verifier shares with it."""

    model: str = Field(
        default="all-MiniLM-L6-v2", description="Packaged model, or a name or path for sentence-transformers."
    )
    precision: Literal["fp32", "int8"] = Field(
        default="fp32",
        description="int8 needs a third of the CPU time, and the extra packages touchstone-worker[int8].",
    )
    export_dir: Path | None = Field(
        default=None, description="Folder for converted int8 models; by default the folder models of state_dir."
    )
    batch_texts: Count = Field(default=64, description="Maximum number of texts in one call of the model.")
    batch_wait_seconds: Positive = Field(default=0.004, description="Maximum wait for texts of other answers.")
    cache_texts: Count = Field(
        default=50_000, description="Number of cached vectors; each has 384 floats, about 1.7 kB with its key."
    )
    shared_cache_seconds: int = Field(
        default=0,
        ge=0,
        le=2_592_000,
        description="Time for which vectors are shared with other workers in Redis; 0 shares none.",
    )
    batch_pairs: Count = Field(
        default=16, description="Maximum number of pairs of evidence and claim in one call of a verifier."
    )
    cache_pairs: Count = Field(
        default=50_000, description="Number of cached verdicts of a verifier; each has three floats."
    )
    threads: int = Field(
        default=0, ge=0, description="Threads of the model; 0 for the number of cores of this process."
    )
    timeout_seconds: Positive = Field(default=30.0, description="Timeout of one call of the model.")

    @property
    def model_name(self) -> str:
        """Return the name of the model in reports; vectors of two names are not compared."""
        return self.model if self.precision == "fp32" else f"{self.model} ({self.precision})"
