"""The reference of all settings, made from their models, so that it cannot be wrong for long."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import AliasChoices, BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from workers.settings import Settings

HEADER = """# Settings

Made by `touchstone settings`; `tests/unit/test_settings_reference.py` sees to it that it is current.

Settings are read from the environment, then from a file `.env`. Lists and objects are JSON. A secret can also come from a
file: put `_FILE` behind its name and the path into it. A misspelt name is refused at the start. What a threshold is taken
from stands in brackets: the number of the seed document, as in the decisions.
"""
COLUMNS = "| variable | value | default | meaning |\n|---|---|---|---|\n"
LONGEST_DEFAULT = 200
"""Longer defaults are named, not written out, characters."""


def settings_reference() -> str:
    """The reference as Markdown."""
    schema = Settings.model_json_schema(by_alias=False)
    single, groups = [], []
    for name, field in Settings.model_fields.items():
        node = _resolved(schema["properties"][name], schema)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            groups.append(_group(name, field.annotation, node, schema))
        else:
            single.append(_row(_alias(name, field), field, node))
    return "\n".join([HEADER, "## Everywhere\n", COLUMNS + "".join(single), *groups])


def _group(name: str, model: type[BaseModel], node: dict[str, Any], schema: dict[str, Any]) -> str:
    summary = " ".join((model.__doc__ or "").strip().split("\n\n")[0].split())
    rows = [
        _row(f"TOUCHSTONE_{name}__{inner}".upper(), field, _resolved(node["properties"][inner], schema))
        for inner, field in model.model_fields.items()
    ]
    return f"## {name}\n\n{summary}\n\n{COLUMNS}{''.join(rows)}"


def _alias(name: str, field: FieldInfo) -> str:
    if isinstance(field.validation_alias, AliasChoices):
        return str(field.validation_alias.choices[-1])
    return f"TOUCHSTONE_{name}".upper()


def _resolved(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """A node of the schema without references, and without the null of what may be left out."""
    if "$ref" in node:
        named: dict[str, Any] = schema["$defs"][node["$ref"].rpartition("/")[2]]
        return named | {name: value for name, value in node.items() if name != "$ref"}
    options = [option for option in node.get("anyOf", ()) if option.get("type") != "null"]
    return _resolved(options[0], schema) if len(options) == 1 else node


def _row(variable: str, field: FieldInfo, node: dict[str, Any]) -> str:
    cells = (f"`{variable}`", ", ".join(_value(node)), _default(field), field.description or "")
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"


def _value(node: dict[str, Any]) -> Iterator[str]:
    if "enum" in node:
        yield ", ".join(f"`{choice}`" for choice in node["enum"])
        return
    if node.get("format") == "password" or node.get("writeOnly"):
        yield "secret"
        return
    kind = node.get("type", "JSON")
    yield {"string": "text", "array": "JSON list", "object": "JSON object", "boolean": "`true` or `false`"}.get(
        kind, kind
    )
    bounds = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    yield from (f"{sign} {node[name]:g}" for name, sign in bounds.items() if name in node)


def _default(field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(default, SecretStr) or default is None:
        return ""
    value = to_jsonable_python(default, fallback=str)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"`{text}`" if 0 < len(text) <= LONGEST_DEFAULT else "see the code" if text else ""
