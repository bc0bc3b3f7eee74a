"""Read texts in which DSPy marks its fields: ``[[ ## answer ## ]]``.

DSPy's own spans hold the fields apart. Where only the calls of the model are recorded (litellm, a proxy), its adapter's
text would be evaluated with the markers and with the reasoning before the answer.
"""

import re

_MARK = re.compile(r"^\[\[ ## (\w+) ## \]\][ \t]*\n?", re.MULTILINE)
_END = "completed"
_QUESTIONS = ("question", "query")


def last_field(said: str) -> str | None:
    """Return the last field of a model's answer; ``None`` for a text that DSPy did not ask for.

    Args:
        said: text of the answer; DSPy asks the model to end it with the field ``completed``.
    """
    names = [match.group(1) for match in _MARK.finditer(said)]
    if len(names) < 2 or names[-1] != _END:
        return None
    return _fields(said)[names[-2]]


def question(asked: str) -> str | None:
    """Return the question among the fields of a prompt; ``None`` if there is none.

    Args:
        asked: text of the last message of the user, which ends with DSPy's instructions on the fields of the answer.
    """
    fields = _fields(asked.partition("\n\nRespond with the corresponding output fields")[0])
    return next((fields[name] for name in _QUESTIONS if fields.get(name)), None)


def _fields(marked: str) -> dict[str, str]:
    parts = _MARK.split(marked)
    return {name: value.strip() for name, value in zip(parts[1::2], parts[2::2], strict=True)}
