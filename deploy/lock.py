"""Write the locks of the image: the versions of constraints.txt with the hashes of the package index.

Needs uv. A lock is a list of requirements that pip installs with --require-hashes.
"""

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
PROJECT = FOLDER.parent
COMPILE = [
    "uv", "pip", "compile", "--constraint", "constraints.txt", "--generate-hashes", "--no-header", "--no-annotate",
    "--quiet", "--python-version", "3.11", "--python-platform", "x86_64-manylinux_2_28",
]  # fmt: skip
OF_CUDA = re.compile(r"torch|triton|cuda-.*|nvidia-.*")
"""PyTorch on the default index, and what its CPU build does not need."""
CPU_BUILD = """torch==2.13.0+cpu \\
    --hash=sha256:6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"""
"""The wheel for cp311 and manylinux_2_28_x86_64, which the default index does not have."""


def compile_entries(*requirements: str, given: str = "") -> dict[str, str]:
    """Return the entries of a lock by package."""
    command = [str(Path(sys.executable).parent / COMPILE[0]), *COMPILE[1:], *requirements]
    text = subprocess.run(command, cwd=PROJECT, input=given, stdout=subprocess.PIPE, text=True, check=True).stdout
    return {entry.partition("==")[0]: entry for entry in re.split(r"\n(?=[\w.-]+==)", text.strip())}


def write(name: str, explanation: str, entries: dict[str, str]) -> None:
    """Write a lock with an explanation as its first line."""
    (FOLDER / name).write_text("\n".join([f"# {explanation}", *entries.values()]) + "\n", encoding="utf-8")


def main() -> None:
    """Write all locks."""
    entries = compile_entries("pyproject.toml", "--extra", "worker", "--extra", "int8", "--extra", "tracing")
    cuda = {name: entries.pop(name) for name in list(entries) if OF_CUDA.fullmatch(name)}
    write("requirements.lock", "What the image installs beside PyTorch; written by `make lock`.", entries)
    write(
        "torch_cpu.lock", "PyTorch's CPU build, for an index that has it; written by `make lock`.", {"torch": CPU_BUILD}
    )
    write("torch_cuda.lock", "PyTorch as on the default index; written by `make lock`.", cuda)
    builder = compile_entries("-", given="hatchling\ncyclonedx-bom")
    write("build.lock", "What builds the image's wheel and its bill of materials; written by `make lock`.", builder)


if __name__ == "__main__":
    main()
