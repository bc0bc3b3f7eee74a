"""The image installs packages by hash: the lock has the pinned versions of everything that the image needs."""

import hashlib
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.harness.paths import ROOT

DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "deploy").glob("*.lock"))}
CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8")


def pins(text: str) -> dict[str, str]:
    return {
        canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==([^\s\\]+)", text, re.MULTILINE)
    }


def needed(requirements: list[str]) -> Iterator[str]:
    """The names of all packages that these requirements install here."""
    seen: set[tuple[str, str]] = set()
    waiting = [(Requirement(each), "") for each in requirements]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for wanted in ("", *requirement.extras):
            if (name, wanted) not in seen:
                seen.add((name, wanted))
                waiting += [(Requirement(each), wanted) for each in distribution(name).requires or ()]
        yield name


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_of_a_lock_has_its_pinned_version_and_hashes(name: str) -> None:
    locked, pinned = pins(LOCKS[name]), pins(CONSTRAINTS)
    assert {
        name: version for name, version in locked.items() if pinned.get(name, version) != version.partition("+")[0]
    } == {}
    entries = [entry for entry in re.split(r"\n(?=[\w.-]+==)", LOCKS[name]) if not entry.startswith("#")]
    assert len(entries) == len(locked) > 0
    for entry in entries:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry[:100]


def test_the_locks_hold_all_packages_of_the_image() -> None:
    project = PROJECT["project"]
    wanted = [
        *project["dependencies"],
        *(each for extra in ("worker", "int8", "tracing") for each in project["optional-dependencies"][extra]),
    ]
    locked = {name for text in LOCKS.values() for name in pins(text)}
    assert not set(needed(wanted)) - locked


def test_the_image_installs_nothing_without_a_hash_but_the_project() -> None:
    commands = re.findall(r"pip install [^&;\n]*", DOCKERFILE.replace("\\\n", " "))
    by_hash = [command for command in commands if "--no-deps --require-hashes" in command]
    used = {name for command in by_hash for name in re.findall(r"--requirement (\S+)", command)}
    assert used == set(LOCKS)
    assert [command.split()[-1] for command in commands if command not in by_hash] == ["/wheels/*.whl"]
    # Fails if a lock leaves out what a package needs.
    assert "pip check" in DOCKERFILE


def test_every_image_of_a_server_is_named_in_one_place() -> None:
    """A digest for an image must not leave a second place where its tag alone is started."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    images = [each["image"] for each in services.values() if "build" not in each]
    assert len(images) >= 6
    places = [ROOT / "docker-compose.yml", ROOT / "Makefile", ROOT / "README.md"]
    for folder in ("deploy", "docs", "examples"):
        places += [
            path for path in (ROOT / folder).rglob("*") if path.suffix in (".yml", ".yaml", ".md", ".py", ".sh", "")
        ]
    texts = [path.read_text(encoding="utf-8") for path in places if path.is_file()]
    for image in images:
        name = re.escape(image.partition(":")[0])
        assert sum(len(re.findall(rf"{name}:v?\d", text)) for text in texts) == 1, image
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert len(set(bases)) == 1


def test_the_digests_of_images_become_an_override_of_compose(tmp_path: Path) -> None:
    skopeo = tmp_path / "skopeo"
    skopeo.write_text(
        '#!/bin/sh\nfor last; do :; done\nprintf "sha256:%s\\n" "$(printf %s "$last" | sha256sum | cut -c1-64)"\n'
    )
    skopeo.chmod(0o755)
    done = subprocess.run(
        [sys.executable, ROOT / "deploy" / "image_digests.py"], env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    pinned = {name: each["image"] for name, each in yaml.safe_load(done.stdout)["services"].items()}
    assert pinned.keys() == {name for name, each in services.items() if "build" not in each}
    for name, image in pinned.items():
        tag, _, digest = image.partition("@sha256:")
        assert tag == services[name]["image"] and len(digest) == 64
    asked = hashlib.sha256(b"docker://docker.io/library/python:3.11.15-slim-bookworm").hexdigest()
    assert f"# deploy/Dockerfile: FROM python:3.11.15-slim-bookworm@sha256:{asked}" in done.stdout
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "skopeo").write_text("#!/bin/sh\necho no such tag\n")
    (broken / "skopeo").chmod(0o755)
    failed = subprocess.run(
        [sys.executable, ROOT / "deploy" / "image_digests.py"], env={"PATH": f"{broken}:{os.environ['PATH']}"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert failed.returncode == 1 and "the registry told no digest" in failed.stderr
