"""deploy/Dockerfile, built and started as its user on a read-only file system."""

import json
import subprocess

import pytest
from babel import Locale

from tests.harness.containers import PodmanMissing, build, podman, run
from tests.unit.deploy.test_deployment import PROJECT
from workers.evaluation.text.languages.local_forms import SPACED
from workers.evaluation.tools.tool_statements import _codes

pytestmark = [pytest.mark.containers, pytest.mark.timeout(3_600)]

IMAGE = f"docker.io/library/touchstone-worker:{PROJECT['project']['version']}"
CONFINED = ("--rm", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "all", "--security-opt", "no-new-privileges")
MAX_BYTES = 1_580_000_000
"""Limit on the size with PyTorch's CPU build and a Debian base (docs/operations/container-tests.md)."""

MAX_INT8_BYTES = 1_030_000_000
"""Limit on the size without PyTorch."""


@pytest.fixture(scope="module")
def image() -> str:
    try:
        build("base", "worker")
    except PodmanMissing as reason:
        pytest.skip(f"no containers: {reason}")
    return IMAGE


@pytest.fixture(scope="module")
def int8_image(image: str) -> str:
    """The image without PyTorch."""
    build("int8")
    return f"{image}-int8"


def started(image: str, *command: str, program: str | None = None) -> "subprocess.CompletedProcess[str]":
    entry = ("--entrypoint", program) if program else ()
    return run("podman", "run", *CONFINED, "--memory", "2g", *entry, image, *command)


def test_it_starts_as_an_ordinary_user_and_writes_its_state_alone(image: str) -> None:
    assert started(image, "--version").stdout == f"touchstone {PROJECT['project']['version']}\n"
    assert started(image, "-u", program="id").stdout.strip() == "10001"
    written = started(image, "-c", "touch /var/lib/touchstone/a /tmp/b && ! touch /opt/touchstone/c", program="sh")
    assert written.returncode == 0
    assert "Read-only file system" in written.stderr


def test_without_settings_the_doctor_says_which_are_missing(image: str) -> None:
    done = started(image, "doctor")
    assert done.returncode == 1
    assert "KAFKA_BOOTSTRAP_SERVERS, REDIS_URL, CLICKHOUSE_URL not set" in done.stderr


def test_the_models_of_both_precisions_are_in_it(image: str) -> None:
    for precision in ("int8", "fp32"):
        settings = ("--env", f"TOUCHSTONE_INFERENCE__PRECISION={precision}", "--network", "none")
        code = (
            "from workers.inference.opening import open_backend; from workers.settings import load_settings; "
            "print(open_backend(load_settings()).encode(['a']).shape)"
        )
        done = run("podman", "run", *CONFINED, *settings, "--entrypoint", "python", image, "-c", code)
        assert done.stdout.strip() == "(1, 384)", done.stderr


@pytest.mark.parametrize("made", ["image", "int8_image"])
def test_nothing_misses_what_was_taken_out_of_the_libraries(request: pytest.FixtureRequest, made: str) -> None:
    """Every module is imported. Those for LiteLLM run in its proxy, which the image does not hold."""
    code = """
import importlib, pkgutil, schemas, workers
missing = set()
names = [each.name for root in (schemas, workers) for each in pkgutil.walk_packages(root.__path__, root.__name__ + ".")]
for name in names:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing.add(error.name)
print(len(names) > 500, sorted(missing))
"""
    done = started(request.getfixturevalue(made), "-c", code, program="python")
    assert done.stdout == "True ['litellm']\n", done.stderr[-2_000:]


def test_names_of_the_calendar_and_of_places_are_known_in_every_language_that_is_rewritten(image: str) -> None:
    texts = {language: f"3 {Locale(language).months['format']['wide'][10]} 2024" for language in SPACED}
    code = f"""
import json
from workers.evaluation.tools.tool_statements import _codes
from workers.evaluation.text.languages.local_forms import local_forms
print(json.dumps([sorted(_codes()), {{language: local_forms(text, language) for language, text in {texts}.items()}}]))
"""
    done = started(image, "-c", code, program="python")
    assert done.returncode == 0, done.stderr[-2_000:]
    names, dates = json.loads(done.stdout)
    assert names == sorted(_codes())
    assert dates == dict.fromkeys(SPACED, "3 october 2024")


def test_without_pytorch_it_computes_in_int8_and_names_the_remedy_in_fp32(int8_image: str) -> None:
    code = (
        "from workers.evaluation.text.parser import parse; from workers.inference.opening import open_backend; "
        "from workers.settings import Settings; parse('It parses.')\n"
        "for name in ('int8', 'fp32'): print(open_backend(Settings(inference={'precision': name})).encode(['a']).shape)"
    )
    done = started(int8_image, "-c", code, program="python")
    assert done.stdout == "(1, 384)\n", done.stderr
    assert "Fp32Unusable: inference.precision is fp32, but torch is not installed" in done.stderr


def test_it_has_no_compiler_no_installer_and_no_path_of_the_build(image: str) -> None:
    searched = started(image, "-c", "for name in gcc cc c++ make pip pip3; do command -v $name; done", program="sh")
    assert searched.stdout == ""
    for interpreter in ("/opt/touchstone/bin/python", "/usr/local/bin/python"):
        assert "No module named pip" in started(image, "-m", "pip", program=interpreter).stderr
    launchers = started(image, "/opt/touchstone/bin", program="ls").stdout.split()
    assert [name for name in launchers if not name.startswith("python")] == ["touchstone"]
    found = started(image, "/opt/touchstone", "-name", "direct_url.json", program="find").stdout
    assert found == ""


def test_its_bill_of_materials_names_what_is_installed(image: str) -> None:
    bill = json.loads(started(image, "/opt/touchstone/share/touchstone.cdx.json", program="cat").stdout)
    assert bill["bomFormat"] == "CycloneDX"
    named = {each["name"].lower().replace("_", "-").replace(".", "-"): each for each in bill["components"]}
    listed = "import importlib.metadata as m, json; print(json.dumps({d.name: d.version for d in m.distributions()}))"
    installed = json.loads(started(image, "-c", listed, program="python").stdout)
    assert len(installed) > 100
    for name, version in installed.items():
        assert named[name.lower().replace("_", "-").replace(".", "-")]["version"] == version
    assert [each for each in named.values() if each.get("licenses")]
    assert "/wheels" not in json.dumps(bill) and "/source" not in json.dumps(bill)


def test_its_size_and_its_environment(image: str, int8_image: str) -> None:
    (small,) = json.loads(podman("image", "inspect", int8_image))
    assert small["Size"] < MAX_INT8_BYTES
    (told,) = json.loads(podman("image", "inspect", image))
    assert told["Size"] < MAX_BYTES
    assert not [each for each in told["Config"]["Env"] if "PASSWORD" in each or "INDEX" in each]
    assert told["Config"]["User"] == "touchstone"
    assert told["Healthcheck"]["Test"][0] == "CMD"
