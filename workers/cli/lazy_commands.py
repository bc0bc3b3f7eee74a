"""Import the module of a command when the command is used; the help of all commands imports none of them."""

import ast
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import typer.main
from typer.core import TyperCommand, TyperGroup


@dataclass(frozen=True, slots=True)
class CommandPlace:
    """Name the module and the object that define a command.

    Attributes:
        module: the module below ``workers.cli``.
        name: the function of a command, or the Typer app of a group of commands.
        context_settings: settings of the command's context.
    """

    module: str
    name: str
    context_settings: Mapping[str, bool] = field(default_factory=dict)

    def load(self, command: str) -> Any:
        """Import the module and return the command or group, as Typer makes it."""
        target = getattr(import_module(f"workers.cli.{self.module}"), self.name)
        if isinstance(target, typer.Typer):
            group = typer.main.get_group(target)
            group.name = command
            return group
        alone = typer.Typer(add_completion=False)
        alone.command(command, context_settings=dict(self.context_settings))(target)
        return typer.main.get_command(alone)

    def help(self) -> str:
        """Return the text of the help from the source of the module, without importing it.

        Raises:
            LookupError: the module does not define the name with a help text.
        """
        spec = find_spec(f"workers.cli.{self.module}")
        if spec is None or spec.origin is None:
            raise LookupError(self.module)
        for node in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body:
            match node:
                case ast.FunctionDef(name=self.name):
                    return ast.get_docstring(node) or ""
                case ast.Assign(targets=[ast.Name(id=self.name)], value=ast.Call(keywords=keywords)):
                    return next(str(ast.literal_eval(each.value)) for each in keywords if each.arg == "help")
        raise LookupError(f"{self.module}:{self.name}")


class LazyCommands(MutableMapping[str, Any]):
    """Load each command at its first use.

    Args:
        places: the place of each command, in the order of the help.
    """

    def __init__(self, places: Mapping[str, CommandPlace]) -> None:
        self._places = places
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = self._places[name].load(name)
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class LazyGroup(TyperGroup):
    """Import each command of the group when it is used.

    Attributes:
        places: the place of each command, in the order of the help.
    """

    places: ClassVar[Mapping[str, CommandPlace]] = {}

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = LazyCommands(self.places)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments of a command; refuse empty values, which would select everything.

        Raises:
            typer.BadParameter: an argument or the value of an option is empty.
        """
        for place, argument in enumerate(args if not ctx.resilient_parsing else ()):
            option, equals, value = argument.partition("=") if argument.startswith("--") else ("", "", argument)
            if not value.strip() and (equals or not option):
                named = option or (args[place - 1] if place and args[place - 1].startswith("-") else "an argument")
                raise typer.BadParameter(f"{named} has an empty value; is a variable of the shell not set?", ctx)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(self.places)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help with the texts from the sources."""
        with self._unloaded():
            super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Complete the name of a command with the texts from the sources."""
        with self._unloaded():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _unloaded(self) -> Iterator[None]:
        """Replace the commands for a while by ones that have a help text and do nothing."""
        commands = self.commands
        self.commands = {name: TyperCommand(name, help=place.help()) for name, place in self.places.items()}
        try:
            yield
        finally:
            self.commands = commands
