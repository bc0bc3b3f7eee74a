"""Find the reasoning that thinking models write before their answer.

Services return it apart from the answer (``reasoning_content``, blocks of the type ``thinking``); servers of open models
without a parser for it leave it in the text. Sources: the chat templates of DeepSeek-R1, QwQ and Qwen3 (whose prompt may
hold the opening tag), Seed-OSS, Magistral, Kimi-VL and the Harmony format of gpt-oss, read November 2026.
"""

import re

_PAIRS = (
    *((f"<{name}>", f"</{name}>") for name in ("think", "thinking", "thought", "reasoning", "seed:think")),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
)
_HARMONY = re.compile(r"\s*(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)\b[^<\n]{0,100}<\|message\|>")
_HARMONY_ANSWER = "<|channel|>final<|message|>"
_OPENED = re.compile(rf"\s*({'|'.join(re.escape(begin) for begin, _ in _PAIRS)})(?![ \t]+[a-z(,])")
"""An opening tag at the beginning; with words of a sentence behind it ("<think> and …") the answer is about the tag."""
_ENDS = dict(_PAIRS)
_CLOSED = re.compile(rf"^[ \t]*(?:{'|'.join(re.escape(end) for _, end in _PAIRS)})[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)


def answer_start(text: str) -> int:
    """Return the offset at which the answer behind its reasoning begins, in code points.

    Returns:
        0 for a text without reasoning; the length of the text if its reasoning does not end.
    """
    start = _after_tags(text) or _after_closing_tag(text)
    return len(text) - len(text[start:].lstrip()) if start else 0


def blanked(text: str) -> str:
    """Return a text with line feeds for its reasoning, so that all offsets stay; spaces would be a block of code."""
    start = answer_start(text)
    return "\n" * start + text[start:] if start else text


def _after_tags(text: str) -> int:
    if _HARMONY.match(text):
        found = text.find(_HARMONY_ANSWER)
        return len(text) if found < 0 else found + len(_HARMONY_ANSWER)
    start = 0
    while opened := _OPENED.match(text, start):
        end = _ENDS[opened[1]]
        found = text.find(end, opened.end())
        if found < 0:
            return len(text)
        start = found + len(end)
    return start


def _after_closing_tag(text: str) -> int:
    """Return the end of a closing tag on its own line: the prompt held the opening one."""
    if not any(end in text for _, end in _PAIRS):  # a quick check: nearly every text has none
        return 0
    closed = _CLOSED.search(text)
    return closed.end() if closed and len(_FENCE.findall(text[: closed.start()])) % 2 == 0 else 0
