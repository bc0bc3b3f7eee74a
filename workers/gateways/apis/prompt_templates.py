"""Read the turns of a prompt that is written in a model's template, as Bedrock and Completions take it.

Sources: the prompt formats of Llama 3 and 4, Llama 2 and Mistral, Claude's Text Completions, Titan Text, ChatML and
DeepSeek, read November 2026. A prompt without a template is the query itself.
"""

import re
from typing import Any

_TEMPLATES = (
    re.compile(r"<\|(?:start_header_id|header_start)\|>(\w{1,20})<\|(?:end_header_id|header_end)\|>"),
    re.compile(r"<\|im_start\|>(\w{1,20})\n"),
    re.compile(r"<｜(User|Assistant)｜>"),
    re.compile(r"\[(/?INST)\]"),
    re.compile(r"(?:^|\n\n)(Human|Assistant):"),
    re.compile(r"(?:^|\n)(User|Bot):"),
)
"""Marks at which a turn begins; the group names who speaks."""
_ROLES = {
    "user": "user",
    "human": "user",
    "inst": "user",
    "assistant": "assistant",
    "bot": "assistant",
    "/inst": "assistant",
}
_MARKS = re.compile(r"</?s>|<\|(?:eot_id|eot|eom_id|im_end|begin_of_text|end_of_text)\|>|<｜end▁of▁sentence｜>")
_INSTRUCTIONS_END = "<</SYS>>"
"""End of the instructions that Llama 2 takes within the first turn."""


def turns(prompt: str) -> list[dict[str, Any]]:
    """Return the turns of a prompt as messages with a role; none for a prompt without a template.

    A template ends where the model begins to speak.

    Args:
        prompt: the prompt.
    """
    for template in _TEMPLATES:
        pieces = template.split(prompt)
        said = [(_ROLES.get(who.lower()), text) for who, text in zip(pieces[1::2], pieces[2::2], strict=True)]
        if said and said[-1][0] == "assistant" and any(role == "user" for role, _ in said):
            # What stands behind the last mark is the beginning of the answer.
            return [{"role": role, "content": _plain(text)} for role, text in said[:-1] if role]
    return []


def _plain(text: str) -> str:
    return _MARKS.sub("", text.rpartition(_INSTRUCTIONS_END)[2]).strip()
