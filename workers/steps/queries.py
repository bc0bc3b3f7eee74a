"""What kind of answer a query asks for: a fact, an explanation, or something to do.

The router's class of the query (``query_type``) decides where it is known; otherwise the
form of the query does. Completeness and actionability depend on it: a date needs no three
hundred characters and no steps.
"""

import re
from typing import Literal

QueryForm = Literal["factual", "explanation", "action", "open"]

_TYPES: dict[str, QueryForm] = {
    **dict.fromkeys(("howto", "procedure", "procedural", "instruction", "instructions"), "action"),
    **dict.fromkeys(("troubleshooting", "troubleshoot", "debugging", "incident", "runbook", "setup"), "action"),
    **dict.fromkeys(("factual", "fact", "factoid", "lookup", "definition", "metric", "yesno"), "factual"),
    **dict.fromkeys(("explanation", "conceptual", "analysis", "comparison", "summary", "summarization"), "explanation"),
}

_ACTION = re.compile(
    r"""\bhow\s+(?:to|(?:do|can|should|could|would|must)\s+(?:i|we|you|one))\b
    | \b(?:what|which)\s+(?:steps|commands?)\b | \bsteps\s+to\b | \bstep[\s-]by[\s-]step\b
    | \bwhat\s+(?:should|can|must|do)\s+(?:i|we)\s+do\b
    | ^\W*(?:please\s+|help\s+me\s+(?:to\s+)?)?(?:fix|resolve|troubleshoot|debug|configure|install|set\s+up|restart
      |deploy|enable|disable|migrate|upgrade|connect|repair|reset)\b
    | \bwie\s+(?:kann|soll|muss|k[öo]nnen|sollen|m[üu]ssen)\s+(?:ich|wir|man)\b
    | \bwas\s+(?:soll|kann|muss)\s+ich\s+tun\b
    | \bcomment\s+(?:faire|puis-je|peut-on|dois-je|pouvons-nous)\b
    | \bc[óo]mo\s+(?:puedo|podemos|se\s+puede|debo|hago)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_EXPLANATION = re.compile(
    r"""\b(?:why|explain|describe|compare|summari[sz]e|elaborate|discuss|outline)\b | \bdifferences?\s+between\b
    | \bhow\s+(?:does|do|did|is|are|was|were|has|have)\b | \bin\s+detail\b
    | \b(?:warum|weshalb|wieso|erkl[äa]re?n?|beschreibe?n?|vergleiche?n?)\b
    | \b(?:pourquoi|expliquez?|d[ée]cri(?:s|vez)|comparez?)\b | por\s+qu[ée]\b | \b(?:explica|describe|compara)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_FACTUAL = re.compile(
    r"""^\W*(?:(?:and|so|please\s+tell\s+me|tell\s+me)\s+)?(?:
      who|whom|whose|when|where|which|what(?:'s|\s+(?:is|are|was|were|year|day|date|time|percentage|number|does|did))
      |how\s+(?:many|much|long|old|far|often|tall|big|high|large|fast|deep|wide|heavy|late|early)
      |is|are|was|were|do|does|did|has|have|had|can|could|will|would|should
      |wer|wann|wo|wie\s+(?:viele?|lange|alt|hoch|gro(?:ß|ss)|oft|weit)|ist|sind|war|hat|gibt\s+es
      |qui|quand|o[ùu]|combien|quel(?:le)?s?|est-ce
      |qui[ée]n(?:es)?|cu[áa]ndo|d[óo]nde|cu[áa]nt[oa]s?|cu[áa]l(?:es)?)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def query_form(query: str, query_type: str | None) -> QueryForm:
    """Classify a query; what fits nothing, such as a keyword search, is ``open``.

    A query that asks for a list ("which sensors failed and why") is an explanation by its
    'why': the form that expects more wins.
    """
    known = _TYPES.get(re.sub(r"[\s_-]", "", query_type or "").casefold())
    if known is not None:
        return known
    if _ACTION.search(query):
        return "action"
    if _EXPLANATION.search(query):
        return "explanation"
    return "factual" if _FACTUAL.search(query) else "open"


_PART_BOUNDARY = re.compile(
    r"[?？;\n]+|\b(?:and|und|et|y)\s+(?=(?:how|what|why|when|where|who|which|wie|was|warum|wann|wo|wer|comment"
    r"|pourquoi|quand|qui|cómo|cuándo|dónde|quién)\b)",
    re.IGNORECASE,
)


def query_parts(query: str) -> list[str]:
    """The single questions of a query: 'What failed, and why?' has two."""
    return [part.strip() for part in _PART_BOUNDARY.split(query) if part.strip(" ,.!")]
