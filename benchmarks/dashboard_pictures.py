"""Draw the dashboards for the documentation: the panels' own SQL on the examples, with matplotlib.

    python -m benchmarks.dashboard_pictures --directory docs/images

It runs the examples through a worker, with ratings and decisions as the tests make them. Grafana
draws the same figures its own way.
"""

import argparse
import asyncio
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.harness.deployment import Deployment
from tests.harness.pipeline import UNHURRIED, WHEN, Pipeline
from workers.grafana.dashboards import DASHBOARDS, Dashboard
from workers.grafana.panels import COLOURS as FIXED_COLOURS
from workers.grafana.panels import Asked
from workers.local.services import LocalServices
from workers.settings.addresses import local_addresses

COLUMNS = 2
MOST_ROWS, MOST_COLUMNS, MOST_LETTERS = 6, 6, 18
DAY = "86400"
COLOURS = {name: f"tab:{colour}" for colour, names in FIXED_COLOURS.items() for name in names}
"""Colours of the dashboards in matplotlib."""
Found = tuple[list[str], list[tuple[Any, ...]]]


def filled(sql: str) -> str:
    """Return the SQL of a panel with Grafana's values inserted: all tenants, days."""
    since, until = (int(WHEN[name].replace(tzinfo=UTC).timestamp() * 1000) for name in ("from", "to"))
    values = {
        "$__fromTime_ms": f"fromUnixTimestamp64Milli({since})", "$__toTime_ms": f"fromUnixTimestamp64Milli({until})",
        "$__interval_s": DAY, "${tenant:sqlstring}": "''", "${run:sqlstring}": "'live'", "${by:raw}": "model_id",
    }  # fmt: skip
    for word, value in values.items():
        sql = sql.replace(word, value)
    return sql


async def asked(pipeline: Pipeline, dashboard: Dashboard) -> list[tuple[Asked, Found]]:
    """Return columns and rows of each panel."""
    client = await pipeline.client()
    try:
        found = []
        for panel in dashboard.panels:
            if isinstance(panel, Asked):
                result = await client.query(filled(panel.targets()[0]["rawSql"]))
                found.append((panel, (list(result.column_names), [tuple(row) for row in result.result_rows])))
        return found
    finally:
        await client.close()


def draw(dashboard: Dashboard, panels: list[tuple[Asked, Found]], path: Path) -> None:
    """Draw all panels in one picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pairs = [panels[start : start + COLUMNS] for start in range(0, len(panels), COLUMNS)]
    heights = [1.7 if all(panel.kind == "table" for panel, _ in pair) else 2.9 for pair in pairs]
    figure, axes = pyplot.subplots(
        len(pairs), COLUMNS, figsize=(13, sum(heights)), dpi=80, squeeze=False, height_ratios=heights,
        layout="constrained",
    )  # fmt: skip
    for place, axis in enumerate(axes.flat):
        if place >= len(panels):
            axis.axis("off")
            continue
        panel, (columns, values) = panels[place]
        axis.set_title(panel.title, loc="left", fontsize=10, fontweight="bold")
        if panel.kind == "table":
            _table(axis, columns, values)
        elif panel.kind == "barchart":
            _bars(axis, values, panel.shades)
        else:
            _lines(axis, columns, values, panel)
    figure.suptitle(f"Touchstone: {dashboard.title}", x=0.01, ha="left", fontsize=13)
    figure.savefig(path, metadata={"Software": None})
    pyplot.close(figure)


def _lines(axis: Any, columns: list[str], rows: list[tuple[Any, ...]], panel: Asked) -> None:
    series: dict[str, list[tuple[Any, Any]]] = {}
    named = "name" in columns
    for row in rows:
        values = dict(zip(columns, row, strict=True))
        for column in columns:
            if column not in ("time", "name", "answers") or (column == "answers" and len(columns) == 2):
                label = str(values["name"]) if named else column
                series.setdefault(label, []).append((values["time"], values[column]))
    if panel.stacked:
        times = [row[0] for row in rows]
        heights = {label: [float(value or 0) for _, value in points] for label, points in series.items()}
        colours = [COLOURS.get(label, "tab:grey") for label in heights]
        axis.stackplot(times, *heights.values(), labels=list(heights), colors=colours, alpha=0.8)
    else:
        shades = _shades(panel.shades, len(series))
        for label, points in series.items():
            known = [(time, value) for time, value in points if value is not None]
            if known:
                axis.plot(
                    *zip(*known, strict=True),
                    marker=".",
                    markersize=3,
                    linewidth=1,
                    label=label,
                    color=shades.pop(0) if shades else COLOURS.get(label),
                )
    axis.set_ylim(bottom=0, top=panel.maximum)
    axis.tick_params(labelsize=7)
    axis.tick_params(axis="x", rotation=20)
    axis.grid(alpha=0.3)
    axis.set_ylabel({"percentunit": "share", "h": "hours", "s": "seconds"}.get(panel.unit, ""), fontsize=7)
    if series:
        axis.legend(fontsize=6, ncols=2, loc="best")


def _shades(colour: str, count: int) -> list[Any]:
    """Return shades of a colour, the darkest first; none without a colour."""
    from matplotlib import colormaps

    return (
        [colormaps[f"{colour.capitalize()}s"](0.9 - 0.55 * place / max(1, count)) for place in range(count)]
        if colour
        else []
    )


def _bars(axis: Any, rows: list[tuple[Any, ...]], colour: str) -> None:
    axis.bar([str(row[0]) for row in rows], [row[-1] for row in rows], color=f"tab:{colour or 'blue'}")
    axis.tick_params(labelsize=7)
    axis.grid(alpha=0.3, axis="y")


def _table(axis: Any, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    axis.axis("off")
    if not rows:
        axis.text(0.02, 0.5, "no data", fontsize=8)
        return
    shown = [[_cell(value) for value in row[:MOST_COLUMNS]] for row in rows[:MOST_ROWS]]
    table = axis.table(shown, colLabels=columns[:MOST_COLUMNS], loc="upper left", cellLoc="left", edges="horizontal")
    table.auto_set_font_size(False)
    table.set_fontsize(7)
    table.auto_set_column_width(list(range(len(columns[:MOST_COLUMNS]))))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if value < 1_000 else f"{value:,.0f}"
    text = "" if value is None else value.strftime("%d %b %H:%M") if isinstance(value, datetime) else str(value)
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--directory", type=Path, default=Path("docs/images"))
    arguments = parser.parse_args()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="touchstone-pictures-") as temporary, asyncio.Runner() as runner:
        services = LocalServices(Path(temporary) / "services")
        found = runner.run(services.start())
        addresses = local_addresses(found)
        deployment = Deployment(addresses, Path(temporary), environment=dict(UNHURRIED))
        try:
            pipeline = Pipeline(deployment, runner)
            runner.run(pipeline.fill())
            for dashboard in DASHBOARDS:
                if panels := runner.run(asked(pipeline, dashboard)):
                    path = arguments.directory / f"dashboard-{dashboard.uid.removeprefix('touchstone-')}.png"
                    draw(dashboard, panels, path)
                    print(path)
        finally:
            runner.run(deployment.stop())
            runner.run(services.stop())


if __name__ == "__main__":
    main()
