"""Provide ``touchstone doctor``, which examines settings and servers before a worker starts."""

import asyncio
from typing import Annotated

import typer
from rich.markup import escape

from workers.cli.output import console, errors, finite, print_json, printable, read_settings
from workers.doctor.examination import examine, examine_until_ready
from workers.doctor.findings import Finding, as_json
from workers.doctor.scope import Scope
from workers.runtime.agent_choice import agents_without, chosen_agents
from workers.settings.addresses import apply_local_defaults, find_addresses

MARKS = {"ok": "[green]✓[/] ok     ", "warning": "[yellow]≠[/] warning", "failure": "[red]✗[/] failure"}


def doctor(
    agents: Annotated[
        str | None, typer.Option(help="Comma-separated agents of a worker: examine only what these need.")
    ] = None,
    without: Annotated[
        str | None, typer.Option(help="Comma-separated agents that run elsewhere: examine what the others need.")
    ] = None,
    of_console: Annotated[bool, typer.Option("--console", help="Examine only what the console needs.")] = False,
    wait: Annotated[
        float,
        typer.Option(
            callback=finite, help="Repeat the examination until there is no failure, for at most so many seconds."
        ),
    ] = 0.0,
    strict: Annotated[bool, typer.Option("--strict", help="End with exit code 1 for warnings, too.")] = False,
    as_document: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Examine settings, servers, topics, schema, rights, clocks and versions, and print a remedy for each problem.

    The command changes nothing. By default it examines what all enabled agents and the console need. It ends with 1 if
    there is a failure, which keeps a worker or the console from its work; a warning does not.

    Examples:
      touchstone doctor
      touchstone doctor --agents citations,grounding,quality --json
    """
    if (agents is not None) + (without is not None) + of_console > 1:
        raise typer.BadParameter("give one of --agents, --without and --console")
    settings = read_settings(quiet=True)
    names = None if agents is None else _names(agents)
    if without is not None:
        names = agents_without(_names(without), settings)
    chosen = () if of_console else tuple(chosen_agents(names, settings))
    scope = Scope(chosen, console=names is None)
    addresses = find_addresses(settings)
    settings = apply_local_defaults(settings, addresses)
    with errors.status("") as status:
        findings = asyncio.run(
            examine_until_ready(
                lambda: examine(settings, addresses, scope, lambda server: status.update(f"examining {server} …")),
                wait,
                _tell_waiting,
            )
        )
    if as_document:
        print_json(as_json(findings))
    else:
        _print(findings)
    if any(each.status == "failure" or (strict and each.status == "warning") for each in findings):
        raise typer.Exit(1)


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _tell_waiting(findings: list[Finding]) -> None:
    for each in findings:
        typer.echo(f"waiting: {each.check}: {printable(each.text)}; {each.remedy}", err=True)


def _print(findings: list[Finding]) -> None:
    width = max(len(each.check) for each in findings)
    for each in findings:
        line = f"{each.check:{width}}  {each.text}" + (f"; {each.remedy}" if each.remedy else "")
        console.print(f"{MARKS[each.status]}  {escape(printable(line))}", highlight=False, soft_wrap=True)
    counts = as_json(findings)
    console.print(f"{len(findings)} checks, {counts['failures']} failures, {counts['warnings']} warnings")
