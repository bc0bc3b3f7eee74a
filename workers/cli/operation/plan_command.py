"""Provide ``touchstone plan``, which prints what a rate of answers needs."""

import math
import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from workers.cli.output import console, finite, print_json, read_settings
from workers.measurement.sizing import PRICES, Plan, overlay
from workers.measurement.sizing import plan as plan_for
from workers.measurement.sizing_table import ANSWER_BYTES


def plan(
    rate: Annotated[float, typer.Option(min=0.01, callback=finite, help="Answers a second at the peak.")],
    answer_kb: Annotated[
        float, typer.Option(min=0.01, callback=finite, help="Mean size of an answer as it arrives, kB.")
    ] = (ANSWER_BYTES / 1_000),
    price: Annotated[
        list[str] | None, typer.Option(help=f"Price a month as name=number; names: {', '.join(PRICES)}.")
    ] = None,
    as_overlay: Annotated[
        bool, typer.Option("--overlay", help="Print the part of a kustomization with partitions and pods.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Print partitions, pods, memory, disks and costs for a rate, from measured costs of one answer.

    Examples:
      touchstone plan --rate 2000 --answer-kb 2.6
      touchstone plan --rate 2000 --price core=25 --price memory_gib=3 --json
      touchstone plan --rate 2000 --overlay
    """
    prices = dict(_price(each) for each in price or [])
    found = plan_for(rate, answer_kb, read_settings(quiet=True))
    if as_overlay:
        sys.stdout.write(overlay(found))
        return
    costs = found.cost_lines(prices)
    if as_json:
        lines = [{"name": name, "amount": amount, "cost": cost} for name, amount, cost in costs]
        print_json(asdict(found) | {"cores": found.cores, "memory_gib": found.memory_gib, "costs": lines})
        return
    _print_pods(found)
    _print_rest(found)
    for name, amount, cost in costs:
        money = f"  {cost:,.0f} a month" if name in prices else ""
        console.print(f"cost  {name:<14} {amount:,.1f}{money}", highlight=False)


def _price(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        if name in PRICES and 0 <= (value := float(number)) < math.inf:
            return name, value
    except ValueError:
        pass
    raise typer.BadParameter(f"{text}: write name=number with one of {', '.join(PRICES)}")


def _print_pods(found: Plan) -> None:
    table = Table("deployment", "pods", "at least", "records/s a pod", "cores", "memory GiB")
    for each in found.pods:
        table.add_row(
            each.name, str(each.pods), str(each.fewest), f"{each.agent} {each.records_each:,}", str(each.cores),
            f"{each.memory_gib:,.0f}",
        )  # fmt: skip
    table.add_row("together", str(sum(each.pods for each in found.pods)), "", "", str(found.cores),
                  f"{found.memory_gib:,.0f}")  # fmt: skip
    console.print(f"{found.rate:g} answers/s of {found.answer_kb:g} kB: {found.partitions} partitions", highlight=False)
    console.print(table)


def _print_rest(found: Plan) -> None:
    console.print(
        f"Kafka       {found.records_per_second:,} records/s, {found.kafka_mb_per_second:,.1f} MB/s written to each "
        f"replica, {found.kafka_tb:,.1f} TB on all replicas before compression\n"
        f"ClickHouse  {found.rows_per_second:,} rows/s, {found.clickhouse_gb_per_day:,.0f} GB a day, "
        f"{found.clickhouse_tb:,.1f} TB a replica\n"
        f"Redis       {found.redis_gb:,.2f} GB\n"
        f"LanceDB     {found.memory_gb_per_day:,.0f} GB a day",
        highlight=False,
    )
