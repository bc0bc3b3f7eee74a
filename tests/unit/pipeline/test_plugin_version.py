"""The version of a plug-in changes with everything that its distribution installs, and with nothing else."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from workers.pipeline.plugin_version import plugin_version
from workers.process.plugins import EVALUATORS, Plugin, PluginError

FILES = {
    "tone_pack/__init__.py": "",
    "tone_pack/evaluator.py": "from tone_pack.rules.words import RUDE\nfrom tone_shared import SHARE\nTONE = RUDE\n",
    "tone_pack/rules/words.py": "RUDE = ('dull',)\n",
    "tone_pack/rules/weights.json": '{"dull": 1}',
    "tone_shared.py": "SHARE = 0.5\n",
    "tone_pack/__pycache__/evaluator.pyc": "compiled",
    "touchstone_tone-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: touchstone-tone\nVersion: 1.0\n",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages in which the distribution is installed."""
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    record = "".join(f"{name},,\n" for name in [*FILES, "../../bin/tone"])
    (tmp_path / "touchstone_tone-1.0.dist-info" / "RECORD").write_text(record)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("tone_")]:
        del sys.modules[name]


def version(distribution: str = "touchstone-tone", module: str = "tone_pack.evaluator") -> str:
    plugin_version.cache_clear()
    return plugin_version(Plugin("tone", EVALUATORS, f"{module}:TONE", distribution, "1.0"))


@pytest.mark.parametrize("changed", ["tone_pack/evaluator.py", "tone_pack/rules/words.py", "tone_shared.py"])
def test_a_change_in_any_module_of_the_distribution_is_another_version(site: Path, changed: str) -> None:
    before = version()
    (site / changed).write_text(FILES[changed] + "MORE = 1\n")
    assert version() != before
    assert before.startswith("touchstone-tone@1.0@")


def test_a_change_in_a_data_file_is_another_version(site: Path) -> None:
    before = version()
    (site / "tone_pack/rules/weights.json").write_text('{"dull": 2}')
    assert version() != before


def test_remarks_compiled_copies_and_metadata_are_the_same_version(site: Path) -> None:
    before = version()
    (site / "tone_pack/rules/words.py").write_text('"""Rude words."""\n' + FILES["tone_pack/rules/words.py"])
    (site / "tone_pack/__pycache__/evaluator.pyc").write_text("compiled again")
    (site / "touchstone_tone-1.0.dist-info/INSTALLER").write_text("another")
    assert version() == before


def test_an_installation_that_lists_no_files_counts_its_whole_package(site: Path) -> None:
    """A checkout that is installed in editable form lists a path file and metadata alone."""
    (site / "touchstone_tone-1.0.dist-info" / "RECORD").write_text("_touchstone_tone.pth,,\n")
    before = version()
    (site / "tone_pack/rules/words.py").write_text("RUDE = ()\n")
    assert version() != before


def test_a_namespace_package_counts_only_its_part_of_the_plugin(site: Path) -> None:
    (site / "company" / "tone").mkdir(parents=True)
    (site / "company" / "tone" / "__init__.py").write_text("TONE = 1\n")
    before = version(module="company.tone")
    (site / "company" / "other").mkdir()
    (site / "company" / "other" / "__init__.py").write_text("OTHER = 1\n")
    assert version(module="company.tone") == before
    (site / "company" / "tone" / "words.py").write_text("RUDE = ()\n")
    assert version(module="company.tone") != before


def test_a_plugin_without_its_module_is_told_with_its_distribution(site: Path) -> None:
    with pytest.raises(PluginError, match=r"tone_gone.*install touchstone-tone again"):
        version(module="tone_gone.evaluator")
