"""Record what one client sends: ``python -m tests.clients.record openinference-langchain FOLDER``.

Run it in an environment that holds the client's packages and Touchstone's checkout on ``PYTHONPATH``.
"""

import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.clients.model_server import model_server
from tests.clients.recipes import PAYLOADS, RECIPES


def main(name: str, folder: Path) -> None:
    """Run a recipe and write what it sent."""
    recipe = RECIPES[name]
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
    with model_server() as (base, kept):
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{base}/v1/traces")))
        recipe.ask(base, provider)
        provider.force_flush()
        provider.shutdown()
    sent: dict[str, Any] = {"client": name, "versions": {package: version(package) for package in recipe.packages}}
    pairs = [{"request": each["request"], "response": each["response"]} for each in kept.pairs]
    sent |= {"traces": kept.traces} if kept.traces else {"format": recipe.form, "records": PAYLOADS or pairs}
    (folder / f"{name}.json").write_text(json.dumps(sent, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
