"""Mapping files, and the command that shows what becomes of a record."""

import gzip
import json
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.harness.command import bare_environment, run_command_as_text
from tests.harness.paths import ROOT
from workers.gateways.adapted import Adapted, Received
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.mapped import UnusableMapping, adapt, read_mapping
from workers.settings import Settings

NOW = datetime(2026, 11, 3, tzinfo=UTC)
LEAST = 'version = 1\n[answer]\nanswer = "text"\n'
Command = Callable[..., subprocess.CompletedProcess[str]]


def mapped(source: str, record: Any) -> list[Adapted]:
    return adapt(record, Received(NOW), by=read_mapping(source.encode(), "m.toml"))


def test_the_least_mapping_says_where_the_answer_is() -> None:
    (found,) = mapped(LEAST, {"text": "Yes.", "other": 1})
    assert found.answer.answer == "Yes."
    assert found.kept == {"other": 1}
    assert "query" in found.missing


def test_records_within_a_document_are_found_and_chosen() -> None:
    source = 'version = 1\neach = "events[?kind==\'done\']"\n[answer]\nanswer = "out.text"\nanswer_id = "id"\n'
    events = [{"id": n, "kind": kind, "out": {"text": str(n)}} for n, kind in enumerate(("done", "begun", "done"))]
    assert [found.answer.answer_id for found in mapped(source, {"events": events})] == ["0", "2"]
    with pytest.raises(NothingToJudge):
        mapped(source, {"events": []})


def test_answers_of_one_document_that_have_no_name_do_not_share_that_of_the_request() -> None:
    by = read_mapping(b'version = 1\neach = "e"\n[answer]\nanswer = "text"\nanswer_id = "id"\n', "m.toml")
    received = Received(NOW, identifier="key-0")

    def names(*records: Any) -> list[str]:
        return [found.answer.answer_id for found in adapt({"e": list(records)}, received, by=by)]

    assert names({"text": "A"}, {"text": "B"}) == ["key-0-0", "key-0-1"]
    assert names({"text": "A", "id": "a"}, {"text": "B"}, {"text": "C"}) == ["a", "key-0-1", "key-0-2"]
    assert names({"text": "A"}) == ["key-0"]


def test_every_kind_of_field_is_read() -> None:
    source = """
version = 1
[answer]
answer = "a"
failed = "code >= `400`"
error_type = "to_string(code)"
requested_at = "start"
completed_at = "stop"
first_token_at = "first"
cost_usd = "cost"
cache_hit = "cached"
prompt_tokens = "usage.input"
temperature = "t"
[contexts]
each = "texts"
[citations]
each = "marks"
number = "n"
start = "from"
end = "to"
"""
    record = {
        "a": "All good.", "code": 200, "start": 1793606043, "stop": 1793606046000, "first": "2026-11-02T07:54:04Z",
        "cost": "0.5", "cached": True, "usage": {"input": 7}, "t": 0.5, "texts": ["One.", "", "Two."],
        "marks": [{"n": 1, "from": 0, "to": 3}],
    }  # fmt: skip
    (found,) = mapped(source, record)
    answer = found.answer
    assert answer.status == "success"
    assert [chunk.content for chunk in answer.contexts or []] == ["One.", "", "Two."]
    assert [(each.number, each.start, each.end) for each in answer.citations] == [(1, 0, 3)]
    assert answer.usage is not None
    assert answer.usage.prompt_tokens == 7
    (event,) = found.feedback
    assert event.execution is not None
    assert (event.execution.cost_usd, event.execution.cache_hit) == (0.5, True)
    assert (event.execution.latency_seconds, event.execution.first_token_seconds) == (3.0, 1.0)
    assert found.kept == {}
    (failed,) = mapped(source, record | {"code": 503})
    assert (failed.answer.status, failed.answer.answer) == ("error", "")
    assert failed.feedback[0].execution is not None
    assert failed.feedback[0].execution.error_type == "503"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("version = 2\n", "write version = 1"),
        ("not toml", "is not TOML"),
        ("version = 1\n", "answer is missing or not a table"),
        ("version = 1\n[answer]\nquery = 'q'\n", "answer.answer is missing"),
        (LEAST + 'colour = "c"\n', "unknown field colour"),
        (LEAST + "[sources]\n", "unknown entry sources"),
        ('version = 1\n[answer]\nanswer = "a["\n', "m.toml: answer.answer: "),
        ("version = 1\n[answer]\nanswer = 7\n", "must be a JMESPath expression"),
        (LEAST + '[contexts]\ncontent = "c"\n', "contexts.each must be a JMESPath expression"),
        ("contexts = 'c'\n" + LEAST, "contexts is missing or not a table"),
        (LEAST + '[[citations]]\neach = "c"\n', "citations is missing or not a table"),
        ("version = 1\nanswer = 'a'\n", "answer is missing or not a table"),
        (LEAST.replace("text", "(" * 10_000 + "text" + ")" * 10_000), "is nested too deeply"),
    ],
)
def test_a_mapping_that_cannot_be_used_is_told_by_its_entry(source: str, told: str) -> None:
    with pytest.raises(UnusableMapping, match=r"m\.toml") as error:
        read_mapping(source.encode(), "m.toml")
    assert told in str(error.value)


def test_an_expression_that_does_not_fit_a_record_refuses_that_record() -> None:
    with pytest.raises(UnadaptableRecord, match=r"m\.toml: answer\.answer cannot be evaluated on this record"):
        mapped("version = 1\n[answer]\nanswer = \"join(',', list)\"\n", {"list": [1]})


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("value[::0]", [1]),
        ("value > `1`", "a"),
        ("contains(value, `1`)", "abc"),
        ("max_by(value, &x)", [{"x": 1}, {"x": "a"}]),
        ("ceil(value)", float("inf")),
        ("avg(value)", [10**400]),
    ],
)
def test_whatever_an_expression_stumbles_over_refuses_that_record(expression: str, value: Any) -> None:
    with pytest.raises(UnadaptableRecord, match=r"answer\.answer cannot be evaluated on this record"):
        mapped(f'version = 1\n[answer]\nanswer = "{expression}"\n', {"value": value})


def test_citations_that_do_not_fit_are_left_out_and_refuse_no_answer() -> None:
    source = (
        LEAST
        + '[citations]\neach = "marks"\nchunk_id = "id"\nnumber = "n"\ncited_text = "said"\nstart = "from"\nend = "to"\n'
    )
    marks = [
        {"id": 17, "n": 0, "said": ["x"], "from": -1},
        {"id": {"a": 1}, "n": "2", "from": "0", "to": 3},
        {"id": None, "n": 0},
        {"id": True, "n": "second", "said": 5},
    ]
    (found,) = mapped(source, {"text": "Yes.", "marks": marks})
    told = [(each.chunk_id, each.number, each.cited_text, each.start, each.end) for each in found.answer.citations]
    assert told == [("17", None, None, None, None), (None, 2, None, 0, 3), (None, None, "5", None, None)]


def test_a_mapping_is_a_format_like_any_other(tmp_path: Path) -> None:
    file = tmp_path / "bot.toml"
    file.write_text(LEAST)
    settings = Settings(_env_file=None, gateways={"mappings": {"bot": str(file)}, "topics": {"t": {"format": "bot"}}})
    (found,) = settings.gateways.format_named("bot").answers(b'{"text": "Yes."}', Received(NOW))
    assert found.answer.answer == "Yes."
    with pytest.raises(ValueError, match=r"bot: .*nowhere.toml cannot be read \(No such file"):
        Settings(_env_file=None, gateways={"mappings": {"bot": str(tmp_path / "nowhere.toml")}})


@pytest.mark.parametrize(
    ("name", "source", "told"),
    [
        ("bot", None, "bot: bot.toml cannot be read (No such file or directory); set the path of the mapping file"),
        ("bot", "", "bot: bot.toml: write version = 1"),
        ("bot", 'version = 1\n[answer]\nanswer = "a["\n', "bot: bot.toml: answer.answer: Invalid jmespath expression"),
        ("litellm", LEAST, "the format litellm is built in; rename the mapping"),
    ],
)
def test_a_worker_does_not_start_on_a_mapping_that_cannot_be_used(
    name: str, source: str | None, told: str, tmp_path: Path
) -> None:
    if source is not None:
        (tmp_path / "bot.toml").write_text(source)
    mapping = {"TOUCHSTONE_GATEWAYS__MAPPINGS": json.dumps({name: "bot.toml"})}
    environment = bare_environment() | {"NO_COLOR": "1", "COLUMNS": "300"} | mapping
    done = run_command_as_text("worker", folder=tmp_path, environment=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"gateways.mappings: {told}" in done.stderr
    assert "Traceback" not in done.stderr


# ---------------------------------------------------------------- touchstone adapt


@pytest.fixture
def command(tmp_path: Path) -> Command:
    environment = bare_environment() | {"NO_COLOR": "1", "COLUMNS": "100"}

    def run(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[str]:
        return run_command_as_text("adapt", *arguments, folder=tmp_path, environment=environment, given=given)

    return run


def golden(name: str) -> list[Any]:
    path = ROOT / "tests" / "data" / "gateways" / f"{name}.json"
    return [case["record"] for case in json.loads(path.read_text(encoding="utf-8"))["cases"]]


def test_a_file_is_shown_with_what_was_mapped_kept_and_is_missing(command: Command, tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text(LEAST)
    (tmp_path / "records.json").write_text(json.dumps([{"text": "Yes.\x1b[2J", "colour": "red"}]))
    shown = command("--try", "--mapping", "bot.toml", "records.json")
    assert shown.returncode == 0, shown.stderr
    assert "Yes.\\x1b[2J" in shown.stdout, "texts of others have no power over the terminal"
    assert "kept: colour" in shown.stdout
    assert "missing: answer_id, query, contexts, model, requested_at, completed_at" in shown.stdout


def test_answers_are_written_as_lines_and_what_is_wrong_is_told(command: Command, tmp_path: Path) -> None:
    lines = [json.dumps(record) for record in golden("litellm")[:2]] + ["{}"]
    (tmp_path / "calls.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    done = command("--format", "litellm", "calls.jsonl.gz")
    assert done.returncode == 1
    assert [json.loads(line)["answer_id"] for line in done.stdout.splitlines()] == ["chatcmpl-9f1c", "req-2"]
    assert "record 3: litellm: fields status and startTime are missing" in done.stderr
    told = json.loads(command("--format", "litellm", "--json", "-", given="\n".join(lines).encode()).stdout)
    assert [each["problem"] is None for each in told] == [True, True, False]
    assert told[0]["answers"][0]["missing"] == []
    assert "model_group" in told[0]["answers"][0]["kept"]


def test_an_export_of_opentelemetry_is_one_record_whatever_its_encoding(command: Command, tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text(json.dumps(golden("otlp")[0], indent=2))
    (answer,) = json.loads(command("--format", "otlp", "--json", "export.json").stdout)[0]["answers"]
    assert answer["answer"]["contexts"][0]["chunk_id"] == "loki-1"


def test_of_an_export_it_is_told_which_calls_cannot_be_taken(command: Command, tmp_path: Path) -> None:
    def call(number: int, **told: str) -> dict[str, Any]:
        told = {"gen_ai.operation.name": "chat", "gen_ai.completion.0.content": "Said."} | told
        attributes = [{"key": key, "value": {"stringValue": value}} for key, value in told.items()]
        return {"traceId": f"{number:032x}", "spanId": "b" * 16, "attributes": attributes}

    documents = json.dumps([{"id": str(number), "content": "x" * 90_000} for number in range(5)])
    large, long = {"gen_ai.retrieval.documents": documents}, {"gen_ai.completion.0.content": "x" * 60_001}
    spans = [call(1, **large), call(2), call(3, **long)]
    (tmp_path / "export.json").write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    done = command("--format", "otlp", "export.json")
    assert [json.loads(line)["answer_id"] for line in done.stdout.splitlines()] == [f"{2:032x}-{'b' * 16}"]
    assert (done.returncode, "record 1: 2 of its calls cannot be accepted" in done.stderr) == (1, True)
    assert "2 of its calls cannot be accepted" in command("--try", "--format", "otlp", "export.json").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["nowhere.json", "--format", "litellm"], 1, "nowhere.json cannot be read: No such file"),
        (["-"], 2, "give --format"),
        (["-", "--format", "helicone"], 1, "no format 'helicone'"),
        (["-", "--mapping", "none.toml"], 1, "none.toml cannot be read"),
        (["-", "--format", "litellm"], 1, "- contains no records"),
    ],
)
def test_what_is_wrong_with_a_command_is_told(command: Command, arguments: list[str], code: int, told: str) -> None:
    done = command(*arguments)
    assert done.returncode == code
    assert told in done.stderr
    assert "Traceback" not in done.stderr
