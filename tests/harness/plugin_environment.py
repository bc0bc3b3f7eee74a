"""A fresh environment into which plug-ins are installed, with the packages of this one by path."""

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from tests.harness.paths import ROOT


@dataclass(frozen=True, slots=True)
class PluginEnvironment:
    """A virtual environment whose ``touchstone`` is that of the checkout.

    Attributes:
        folder: of the environment.
        int8: folder of the model in int8, to run it as the image does; without, the model is in fp32.
    """

    folder: Path
    int8: Path | None = None

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def variables(self) -> dict[str, str]:
        """Variables of a terminal in which the environment is activated; pip fetches nothing."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("TOUCHSTONE_")}
        precision = {"PRECISION": "int8", "EXPORT_DIR": str(self.int8)} if self.int8 is not None else {}
        settings = {f"TOUCHSTONE_INFERENCE__{name}": value for name, value in precision.items()}
        return inherited | settings | {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PIP_NO_INDEX": "1",
            "PIP_NO_DEPS": "1",
            # The value is inverted: pip builds with the packages of this environment.
            "PIP_NO_BUILD_ISOLATION": "0",
        }  # fmt: skip

    def run(self, command: str, folder: Path, seconds: float = 300.0) -> str:
        """Run a command of the shell in a folder.

        Returns:
            Its standard output.

        Raises:
            AssertionError: the command failed; the text holds its output.
        """
        done = subprocess.run(
            ["/bin/sh", "-ec", command], cwd=folder, env=self.variables, capture_output=True, text=True,
            timeout=seconds, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


def plugin_environment(folder: Path, int8: Path | None = None) -> PluginEnvironment:
    """Make an environment in a folder that does not exist yet."""
    # To install pip takes three seconds of CPU: that of this environment is found by path.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=120)
    site = next((folder / "lib").glob("python3.*/site-packages"))
    (site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    for name, module in (("touchstone", "workers.cli"), ("pip", "pip")):
        command = folder / "bin" / name
        command.write_text(f'#!/bin/sh\nexec "{folder / "bin" / "python"}" -m {module} "$@"\n')
        command.chmod(0o755)
    return PluginEnvironment(folder, int8)
