"""Write the dashboards and the alert that Grafana is provisioned with.

python -m workers.grafana [--directory deploy/grafana] [--console https://console.example.com]
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from workers.grafana.dashboards import DASHBOARDS, DEFAULT_CONSOLE, drift_alert


def files(console: str = DEFAULT_CONSOLE) -> dict[str, str]:
    """Return every generated file by its path below deploy/grafana; the result is deterministic.

    Args:
        console: address of the console, for links.
    """
    dashboards = {f"dashboards/{dashboard.uid}.json": dashboard.as_json(console) for dashboard in DASHBOARDS}
    return {
        path: _text(value) for path, value in {**dashboards, "provisioning/alerting/drift.json": drift_alert()}.items()
    }


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    """Write the files and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--directory", type=Path, default=Path("deploy/grafana"), help="output folder; deploy/grafana by default"
    )
    parser.add_argument("--console", default=DEFAULT_CONSOLE, help="address of the console, for links")
    arguments = parser.parse_args()
    for path, text in files(arguments.console.rstrip("/")).items():
        target = arguments.directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
