"""The documents say what is so: commands, links, paths, topics, metrics, errors, examples."""

import contextlib
import io
import json
import re
import shlex
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, get_args

import pytest
import typer.main
import yaml
from prometheus_client.metrics import MetricWrapperBase

from schemas.answers import GeneratedAnswer
from schemas.base import UnreadableEvent
from schemas.feedback import FeedbackEvent
from schemas.release import Alert, AlertType
from schemas.topics import ANSWERS_GENERATED, TOPICS
from tests.harness.command import bare_environment, run_command_as_text
from tests.harness.paths import ROOT
from workers.cli.main import app
from workers.errors import TouchstoneError
from workers.exporters.webhook_messages import alert_notice, signature_headers
from workers.local.errors import LocalServiceError
from workers.observability import metrics
from workers.review.review_errors import ReviewConflict
from workers.runtime.agent_choice import AGENTS, EXPORTERS, chosen_agents
from workers.settings import RetentionSettings, Settings
from workers.stores.clickhouse.named_queries import read_queries
from workers.stores.clickhouse.retention import ttl_expressions

README = ROOT / "README.md"
ARCHITECTURE = ROOT / "docs" / "ARCHITECTURE.md"
OPERATIONS = ROOT / "docs" / "operations"
USAGE = ROOT / "docs" / "usage"
MONITORING = OPERATIONS / "monitoring.md"
ALERTS_PAGE = OPERATIONS / "alerts.md"
ERRORS_PAGE = OPERATIONS / "errors.md"
SCALING = OPERATIONS / "scaling.md"
EXPORTERS_PAGE = ROOT / "docs" / "reference" / "exporters.md"
DOCUMENTS = [
    README,
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "examples" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
SOURCES = sorted((ROOT / "workers").rglob("*.py"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
ROOTS = ("schemas", "workers", "tests", "deploy", "docs", "examples")


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def fenced(path: Path, language: str) -> list[str]:
    return [body for found, body in FENCE.findall(text_of(path)) if found == language]


def prose_of(path: Path) -> str:
    return FENCE.sub("", text_of(path))


def rows(path: Path, header: str) -> list[list[str]]:
    """The rows of the table whose header line begins so, as cells."""
    _, found, rest = text_of(path).partition(f"\n{header}")
    assert found, f"no table {header!r} in {path.name}"
    table = rest.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


# ---------------------------------------------------------------- commands


def command_lines(path: Path) -> Iterator[list[str]]:
    """Every call of touchstone in a block for the shell, without what stands around it."""
    for block in fenced(path, "sh"):
        lexer = shlex.shlex(block.replace("\\\n", " "), posix=True, punctuation_chars="|&;<>")
        lexer.whitespace_split = True
        lexer.commenters = "#"
        lexer.whitespace = " \t"
        words: list[str] = []
        for token in [*lexer, "\n"]:
            for part in re.split(r"(\n)", token):
                if part == "\n" or (part and not part.strip("|&;<>")):
                    yield from _calls(words)
                    words = []
                elif part:
                    words.append(part)


def _calls(words: list[str]) -> Iterator[list[str]]:
    for position, word in enumerate(words):
        if word == "touchstone" or word.endswith("/touchstone"):
            yield words[position + 1 :]
            return


def mentions(path: Path) -> list[list[str]]:
    """Every call of touchstone within a sentence or a string."""
    text = prose_of(path) if path.suffix == ".md" else text_of(path)
    found = [span for span in INLINE.findall(text) if re.match(r"(\.venv/bin/)?touchstone( |$)", span)]
    return [shlex.split(span)[1:] for span in found]


def objection(words: list[str], *, whole: bool) -> str | None:
    """What the command line would refuse, or ``None``; ``whole`` demands values and arguments, too."""
    command: Any = typer.main.get_command(app)
    options = {name: option for option in command.params for name in option.opts}
    rest = list(words)
    positional: list[str] = []
    while rest:
        word = rest.pop(0)
        if word.startswith("-") and word != "-":
            name, _, value = word.partition("=")
            if name not in options and name != "--help":
                return f"no option {name}"
            takes_value = name in options and not options[name].is_flag
            if takes_value and not value:
                if not rest and whole:
                    return f"{name} lacks its value"
                rest = rest[1:]
        elif hasattr(command, "commands"):
            if word not in command.commands:
                return f"no command {word}"
            command = command.commands[word]
            options = {name: option for option in command.params for name in option.opts}
        else:
            positional.append(word)
        if command.name == "bench" and positional:
            return benchmark_objection(positional[0], rest)
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    if len(positional) > len(arguments):
        return f"too many arguments: {positional}"
    if whole and len(positional) < sum(argument.required for argument in arguments):
        return "an argument is missing"
    return None


def benchmark_objection(name: str, words: list[str]) -> str | None:
    """The first option that a benchmark has not by its own help, or ``None``."""
    module = import_module(f"benchmarks.{name}")
    told = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(told), contextlib.suppress(SystemExit):
        patch.setattr(sys, "argv", [name, "--help"])
        module.main()
    known = re.findall(r"--[a-z0-9-]+", told.getvalue())
    unknown = [word for word in words if word.startswith("--") and word not in known]
    return f"{name} has no {unknown[0]}" if unknown else None


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_benchmark_in_a_block_has_the_options_it_is_given(path: Path) -> None:
    lines = [line for body in fenced(path, "sh") for line in body.replace("\\\n", " ").splitlines()]
    asked = [re.search(r"python -m benchmarks\.(\w+)(.*)", line) for line in lines]
    refused = {found[0]: benchmark_objection(found[1], shlex.split(found[2])) for found in asked if found}
    assert {line: why for line, why in refused.items() if why} == {}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_in_a_block_is_accepted_by_the_command_line(path: Path) -> None:
    refused = {" ".join(words): objection(words, whole=True) for words in command_lines(path)}
    assert {words: why for words, why in refused.items() if why} == {}


def test_the_readme_stays_short() -> None:
    assert len(text_of(README).splitlines()) < 200


def test_the_commands_are_found_at_all() -> None:
    lines = [" ".join(words) for words in command_lines(README)]
    assert {"up", "topics create", "migrate", "worker", "ingest answers.jsonl"} <= set(lines)


@pytest.mark.parametrize(
    "words", ["dance", "worker --agent x", "ingest", "topics", "topics create now", "demo --summary-json"]
)
def test_a_command_that_does_not_exist_would_be_noticed(words: str) -> None:
    noticed = objection(words.split(), whole=True)
    assert (noticed is None) is (words == "topics")


def test_every_command_that_a_text_mentions_exists() -> None:
    found = [(path, words) for path in (*DOCUMENTS, *SOURCES) for words in mentions(path)]
    assert len(found) > 20
    refused = {f"{path.name}: {' '.join(words)}": objection(words, whole=False) for path, words in found}
    assert {where: why for where, why in refused.items() if why} == {}


def test_every_command_of_the_command_line_is_documented() -> None:
    command: Any = typer.main.get_command(app)
    text = "".join(text_of(path) for path in DOCUMENTS)
    for name in command.commands:
        assert f"touchstone {name}" in text, name


@pytest.mark.parametrize(
    "agents",
    re.findall(
        r"--(?:agents|without)[ ,\"]+([\w,-]+)",
        "".join(text_of(path) for path in (README, *OPERATIONS.glob("*.md"), *USAGE.glob("*.md"), EXPORTERS_PAGE)),
    ),
)
def test_every_agent_in_a_command_exists(agents: str) -> None:
    assert set(agents.split(",")) <= set(AGENTS | EXPORTERS)


def test_the_readme_names_every_make_target_that_it_uses() -> None:
    targets = set(re.findall(r"^([a-z]+):", text_of(ROOT / "Makefile"), re.M))
    used = {name for path in DOCUMENTS for name in re.findall(r"(?:^|`)make ([a-z]+)", text_of(path), re.M)}
    assert {"demo", "test"} <= used <= targets


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--version"], "touchstone "),
        (["topics", "list"], "answers"),
        (["topics", "list", "--json"], "answers.generated"),
        (["schemas", "export", "out"], "files written"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_cheap_commands_run(arguments: list[str], expected: str, tmp_path: Path) -> None:
    finished = run_command_as_text(*arguments, folder=tmp_path, environment=bare_environment())
    assert finished.returncode == 0, finished.stderr[-1_000:]
    assert expected in finished.stdout
    if arguments[0] == "schemas":
        assert (tmp_path / "out" / "asyncapi.json").exists()


# ---------------------------------------------------------------- links and paths


def anchors(path: Path) -> set[str]:
    """Anchors of the headings, as usual for Markdown pages."""
    headings = re.findall(r"^#+ (.+)$", prose_of(path), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose_of(path)):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        assert file.exists(), target
        assert file == ROOT or ROOT in file.parents, f"{target} leaves the repository"
        if anchor:
            assert anchor in anchors(file), target


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_path_and_every_test_that_is_named_exists(path: Path) -> None:
    for span in INLINE.findall(prose_of(path)):
        name, _, test = span.partition("::")
        if not re.fullmatch(rf"(?:{'|'.join(ROOTS)})/[\w./-]+", name):
            continue
        assert (ROOT / name).exists(), span
        if test:
            assert re.search(rf"^(async )?def {test}\(", text_of(ROOT / name), re.M), span


def test_every_delivery_rule_names_where_it_is_and_what_guards_it() -> None:
    rules = rows(ARCHITECTURE, "| | rule |")
    assert [cells[0] for cells in rules] == [str(number) for number in range(1, len(rules) + 1)]
    for cells in rules:
        assert "](../" in cells[3], cells[1]
        assert "`tests/" in cells[4], cells[1]


def test_every_package_has_its_row_in_the_layout() -> None:
    described = {re.findall(r"\[([^\]]+)\]", cells[0])[0] for cells in rows(ARCHITECTURE, "| folder |")}
    packages = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "workers").glob("*/__init__.py")}
    assert packages | {"schemas", "deploy", "examples"} <= described


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_no_placeholder_is_left(path: Path) -> None:
    assert not re.search(r"@@|TODO|FIXME|XXX", text_of(path))


# ---------------------------------------------------------------- topics, metrics, errors


def test_the_topic_table_is_that_of_the_registry() -> None:
    table = {cells[0].strip("`"): cells for cells in rows(USAGE / "topics.md", "| topic | model |")}
    assert list(table) == [topic.name for topic in TOPICS]
    for topic in TOPICS:
        kept = "for ever" if topic.retention is None else f"{topic.retention.days} days"
        kept = kept if topic.cleanup == "delete" else f"{kept}, compacted"
        assert table[topic.name][1:5] == [topic.model.__name__, topic.key, topic.direction, kept]


def test_topics_marked_later_are_those_that_no_agent_reads_or_writes() -> None:
    later = {cells[0].strip("`") for cells in rows(USAGE / "topics.md", "| topic | model |") if "*later*" in cells[5]}
    read = {topic.name for agent in AGENTS.values() for topic in agent.reads}
    constants = {topic.name: topic.name.upper().replace(".", "_").replace("-", "_") for topic in TOPICS}
    folders = [ROOT / "workers" / name for name in ("agents", "delivery", "privacy", "runtime", "stores")]
    code = "".join(text_of(path) for folder in folders for path in folder.rglob("*.py"))
    named = {name for name, constant in constants.items() if re.search(rf"\b{constant}\b", code)}
    reports = {f"answers.{agent}" for agent in ("citations", "grounding", "quality")}
    assert later == {topic.name for topic in TOPICS} - read - named - reports


def exposed_metrics() -> dict[str, list[str]]:
    """Names as they are scraped, with their labels."""
    suffixes = {"counter": "_total", "info": "_info"}
    found = {}
    for metric in vars(metrics).values():
        if isinstance(metric, MetricWrapperBase):
            description = metric.describe()[0]
            found[description.name + suffixes.get(description.type, "")] = list(metric._labelnames)
    return found


def test_every_metric_is_documented_with_its_labels_and_none_that_does_not_exist() -> None:
    exposed = exposed_metrics()
    exposed["touchstone_build_info"] = ["version", "pipeline_version"]
    assert len(exposed) > 20
    table = rows(MONITORING, "| metric | labels |")
    documented = {cells[0].strip("`"): [label for label in cells[1].split(", ") if label] for cells in table}
    assert documented == exposed


def test_every_metric_to_look_at_has_something_to_do() -> None:
    watched = {cells[0].strip("`") for cells in rows(MONITORING, "| metric | labels |") if cells[3]}
    told = {name for cells in rows(MONITORING, "| when | do |") for name in re.findall(r"`(touchstone_\w+)`", cells[0])}
    assert watched == told


def test_operations_pages_refer_to_sections_by_link_and_the_index_lists_every_page() -> None:
    pages = sorted(OPERATIONS.glob("*.md"))
    for page in pages:
        assert not re.search(r'\bsee "', prose_of(page)), page.name
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", text_of(OPERATIONS / "README.md")))
    assert linked == {page.name for page in pages} - {"README.md"}


def test_every_metric_that_a_document_mentions_exists() -> None:
    exposed = set(exposed_metrics())
    for path in DOCUMENTS:
        named = {span for span in INLINE.findall(prose_of(path)) if re.fullmatch(r"touchstone_\w+", span)}
        assert named <= exposed, path.name


def error_classes() -> set[str]:
    """Every public error of the worker, whoever has imported what."""
    for module in walk_packages([str(ROOT / "workers")], "workers."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    found: set[type[BaseException]] = {UnreadableEvent, LocalServiceError, ReviewConflict}
    open_classes: list[type[BaseException]] = [TouchstoneError]
    while open_classes:
        kind = open_classes.pop()
        found.add(kind)
        open_classes.extend(kind.__subclasses__())
    return {
        kind.__name__
        for kind in found
        if kind.__module__.startswith(("workers.", "schemas.")) and not kind.__name__.startswith("_")
    }


def test_every_error_is_documented_with_what_to_do_and_none_that_does_not_exist() -> None:
    documented = set()
    for header in ("| error | what happens |", "| error | do |"):
        for cells in rows(ERRORS_PAGE, header):
            documented |= set(INLINE.findall(cells[0]))
            assert cells[-1], f"{cells[0]}: nothing to do"
    assert documented - {"MemoryError"} == error_classes()


def test_every_alert_type_is_documented() -> None:
    assert {cells[0].strip("`") for cells in rows(ALERTS_PAGE, "| type | when |")} == set(get_args(AlertType))


def test_every_warning_in_the_log_is_documented() -> None:
    table = {
        event
        for cells in rows(OPERATIONS / "log-events.md", "| event | meaning |")
        for event in INLINE.findall(cells[0])
    }
    written = set()
    for path in SOURCES:
        if "local" not in path.relative_to(ROOT).parts:
            written |= set(re.findall(r"log\.(?:info|warning|error)\(\s*\"(\w+)\"", text_of(path)))
    assert table == written


# ---------------------------------------------------------------- examples


def test_the_example_answer_can_be_ingested() -> None:
    (example,) = fenced(README, "json")
    (same,) = fenced(USAGE / "answers.md", "json")
    # The file that README sends has one object a line.
    assert (example.count("\n"), json.loads(example)) == (1, json.loads(same))
    answer = GeneratedAnswer.from_bytes(example.encode())
    assert not answer.model_extra
    assert answer.contexts
    assert not answer.contexts[0].model_extra


def test_the_example_of_feedback_can_be_sent_and_is_about_the_example_answer() -> None:
    (answer,), (feedback,) = fenced(README, "json"), fenced(USAGE / "feedback.md", "json")
    event = FeedbackEvent.from_bytes(feedback.encode())
    assert not event.model_extra
    assert event.answer_id == json.loads(answer)["answer_id"]


def test_the_field_table_is_about_fields_that_exist_and_marks_those_that_must_be_there() -> None:
    required = {name for name, field in GeneratedAnswer.model_fields.items() if field.is_required()}
    described: dict[str, str] = {}
    for cells in rows(USAGE / "answers.md", "| field | needed |"):
        described |= dict.fromkeys(INLINE.findall(cells[0]), cells[1])
    assert set(described) <= set(GeneratedAnswer.model_fields)
    assert {name for name, needed in described.items() if needed == "yes"} == required


def test_the_number_of_examples_is_the_one_that_is_told() -> None:
    count = len(text_of(ROOT / "examples" / "answers.jsonl").splitlines())
    for path in (README, ROOT / "CHANGELOG.md"):
        told = re.findall(r"(\d+) (?:example )?answers (?:of|for)|with (\d+) example answers", text_of(path))
        assert told
        assert {int(first or second) for first, second in told} == {count}, path.name


def test_every_block_of_data_can_be_read() -> None:
    for path in DOCUMENTS:
        for block in fenced(path, "json"):
            json.loads(block)
        for block in fenced(path, "yaml"):
            # !reset is compose's own tag.
            assert yaml.safe_load(block.replace("!reset ", ""))


def test_the_probe_in_the_document_names_every_agent() -> None:
    (block,) = fenced(MONITORING, "json")
    assert set(json.loads(block)["checks"]) == set(AGENTS)


# ---------------------------------------------------------------- exporters


def test_the_groups_to_move_past_an_unreadable_batch_are_those_that_read_the_topic() -> None:
    page = (ROOT / "docs/operations/dead-letters.md").read_text(encoding="utf-8")
    told = re.search(r"for `answers\.generated` those of (.+?)\)", page)
    assert told is not None
    readers = {agent.name for agent in AGENTS.values() if ANSWERS_GENERATED in agent.reads}
    assert set(re.findall(r"`(\w+)`", told[1])) == readers
    assert "evaluator plug-in" in told[1]


def test_every_exporter_has_its_row_with_what_it_reads() -> None:
    table = {cells[0].strip("`"): INLINE.findall(cells[1]) for cells in rows(EXPORTERS_PAGE, "| agent | reads |")}
    assert table == {name: [topic.name for topic in agent.reads] for name, agent in EXPORTERS.items()}


def test_each_configuration_of_an_exporter_switches_it_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    secrets = {
        "HEADERS": "authorization=Bearer%20x", "KEY": "sk-lf-1", "URL": "https://hooks.example/T0/B0",
        "SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    }  # fmt: skip
    names: list[str] = []
    for block in fenced(EXPORTERS_PAGE, "sh"):
        for line in block.splitlines():
            name, _, value = line.partition("=")
            if name.endswith("_FILE"):
                (tmp_path / name).write_text(secrets[name.removesuffix("_FILE").rpartition("_")[2]])
                value = str(tmp_path / name)
            monkeypatch.setenv(name, value)
            names.append(name)
    assert len(names) == len(set(names)) > 8
    assert {agent.name for agent in chosen_agents(None, Settings(_env_file=None))} == set(AGENTS | EXPORTERS)


def test_the_documented_verification_takes_what_is_signed_and_nothing_else() -> None:
    (snippet,) = fenced(EXPORTERS_PAGE, "python")
    scope: dict[str, Any] = {}
    exec(compile(snippet, "exporters.md", "exec"), scope)
    (shown,) = fenced(EXPORTERS_PAGE, "json")
    body, secret = shown.encode(), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    headers = signature_headers("e-1", datetime.now(UTC), body, secret)
    assert scope["is_genuine"](headers, body, secret)
    assert scope["is_genuine"](headers | {"webhook-signature": "v1,eA== " + headers["webhook-signature"]}, body, secret)
    for forged in (
        (headers, body + b" ", secret),
        (headers | {"webhook-id": "e-2"}, body, secret),
        (headers | {"webhook-timestamp": str(int(headers["webhook-timestamp"]) + 1)}, body, secret),
        (headers, body, "whsec_" + "A" * 32),
        (signature_headers("e-1", datetime.now(UTC) - timedelta(minutes=6), body, secret), body, secret),
    ):
        assert not scope["is_genuine"](*forged)


def test_the_notice_that_is_shown_is_what_is_sent() -> None:
    (shown,) = fenced(EXPORTERS_PAGE, "json")
    told = json.loads(shown)
    sent = json.loads(alert_notice(Alert.model_validate(told["data"]), "https://touchstone.example").body())
    assert sent == told


# ---------------------------------------------------------------- questions, changes


def test_every_named_question_is_told_once_and_the_changelog_counts_them() -> None:
    told = [
        name
        for _, files in rows(ROOT / "docs" / "reference" / "dashboards.md", "| question | file |")
        for name in INLINE.findall(files)
    ]
    assert sorted(told) == sorted(read_queries())
    assert f"{len(told)} named questions" in text_of(ROOT / "CHANGELOG.md")


def test_the_changelog_has_each_section_of_a_version_once() -> None:
    for version in text_of(ROOT / "CHANGELOG.md").split("\n## ")[1:]:
        sections = re.findall(r"^### (.+)$", version, re.M)
        assert sections == sorted(set(sections), key=sections.index)
        assert set(sections) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_every_decision_has_a_date_and_a_status_and_stands_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    records = sorted(folder.glob("0*.md"))
    status = re.compile(r"^Date: \d{4}-\d\d-\d\d\. Status: (?:accepted|superseded by \d{4})\.", re.M)
    assert [path.name for path in records if not status.search(text_of(path))] == []
    assert re.findall(r"\]\((0\d+-[\w-]+\.md)\)", text_of(folder / "README.md")) == [path.name for path in records]


# ---------------------------------------------------------------- sizing


def test_disks_are_reckoned_with_the_default_retention_of_each_table() -> None:
    expressions = ttl_expressions(RetentionSettings())
    days = {table: int(re.findall(r"toIntervalDay\((\d+)\)", text)[0]) for table, text in expressions.items()}
    *tables, together = rows(SCALING, "| table | bytes an answer | days |")
    total, by_day, kept = 0, 0.0, 0.0
    for name, size, told, day, terabytes in tables:
        per_day = int(size) * 86_400 * 1_000 / 1e9
        assert int(told) == days[name.strip("`")], name
        assert (day, terabytes) == (f"{per_day:.1f}", f"{per_day * int(told) / 1e3:.1f}"), name
        total, by_day, kept = total + int(size), by_day + per_day, kept + per_day * int(told) / 1e3
    assert together == ["together", f"{total:,}", "", f"{by_day:.1f}", f"{kept:.1f}"]
    section = prose_of(SCALING).partition("## ClickHouse disk space")[2].partition("\n## ")[0]
    figures = {name for name in days if name.endswith("_hours")}
    assert {name for name in days if f"`{name}`" in section} == days.keys() - figures
    assert f"{by_day:.0f} GB a day a replica; {kept:.0f} TB" in text_of(SCALING)
