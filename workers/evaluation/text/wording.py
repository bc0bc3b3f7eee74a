"""Define word lists and patterns that distinguish kinds of statements; mainly English, some German and French.

All patterns are bounded, so that matching takes time linear in the text.
"""

import html
import re

from workers.evaluation.text.normalization import normalised


def _any(*phrases: str) -> str:
    return "(?:" + "|".join(phrases) + ")"


UNCERTAINTY = re.compile(
    r"\b"
    + _any(
        "I think",
        "I believe",
        "probably",
        "maybe",
        "might be",
        "perhaps",
        "I(?:'|’)?m not (?:entirely |quite )?sure",
        "I am not (?:entirely |quite )?sure",
        "based on my (?:general )?knowledge",
        "as far as I know",
        "presumably",
        "ich glaube",
        "vermutlich",
        "wahrscheinlich",
        "vielleicht",
        "je pense",
        "peut-être",
        "probablement",
    )
    + r"\b",
    re.IGNORECASE,
)
"""Uncertainty markers."""

HEDGE = re.compile(
    UNCERTAINTY.pattern
    + "|"
    + r"\b"
    + _any(
        "might",
        "may",
        "could",
        "possibly",
        "likely",
        "appears? to",
        "seems?",
        "apparently",
        "suggests? that",
        "potentially",
        "möglicherweise",
        "dürfte",
        "könnte",
        "scheint",
        "sans doute",
        "semble",
        "pourrait",
    )
    + r"\b",
    re.IGNORECASE,
)
"""Words that weaken a statement; the statement is still checked."""

IMPERATIVES = _any(
    "run",
    "check",
    "ensure",
    "verify",
    "execute",
    "configure",
    "set",
    "create",
    "restart",
    "raise",
    "lower",
    "increase",
    "decrease",
    "reduce",
    "add",
    "remove",
    "delete",
    "open",
    "close",
    "click",
    "select",
    "choose",
    "use",
    "avoid",
    "try",
    "make sure",
    "consider",
    "schedule",
    "inspect",
    "replace",
    "clean",
    "install",
    "update",
    "upgrade",
    "enable",
    "disable",
    "apply",
    "stop",
    "start",
    "wait",
    "watch",
    "monitor",
    "review",
    "contact",
    "call",
    "ask",
    "send",
    "go to",
    "navigate",
    "follow",
    "repeat",
    "keep",
    "do not",
    "don't",
    "don’t",
    "never",
    "always",
    "please",
    "see",
    "read",
    "turn",
    "place",
    "put",
    "take",
    "mix",
    "heat",
    "cook",
    "bake",
    "preheat",
    "pour",
    "cut",
    "press",
    "hold",
    "store",
    "confirm",
    "escalate",
    "roll back",
    "deploy",
    "scale",
    "test",
    "note",
    "remember",
    "enter",
    "type",
    "scroll",
    "tap",
)

RECOMMENDATION = re.compile(
    r"(?:(?:first|then|next|finally|also|now|afterwards|otherwise|second|third|lastly),?\s+|to [^,]{3,60},\s+)?"
    rf"{IMPERATIVES}\b(?!\s*(?:is|are|was|were|has|had)\b)"
    r"|(?:recommendation|recommended|next steps?|action|empfehlung|recommandation)s?\s*:"
    r"|[^.!?]{0,200}\b"
    + _any(
        "you (?:should|must|need to|have to|can|may want to)",
        "we recommend",
        "it is (?:recommended|advisable)",
        "is recommended",
        "should be",
        "i (?:recommend|suggest|advise)",
        "sie sollten",
        "wir empfehlen",
        "nous recommandons",
    )
    + r"\b",
    re.IGNORECASE,
)
"""Instructions and advice, at the start of a sentence (``match``)."""

INFERENCE_LABEL = re.compile(
    r"(?:AI[ -]inference|inference|my inference|schlussfolgerung)\s*[:–—-]|I infer\b|(?:it is )?my (?:own )?inference (?:is )?that\b",
    re.IGNORECASE,
)
"""A sentence that calls itself an inference."""

REFERENCE_HEADING = re.compile(
    r"(?:references?|sources?(?: used)?|citations?|bibliography|further reading|footnotes?|quellen|literatur|références)"
    r"\W*$",
    re.IGNORECASE,
)
"""A heading over a list of sources."""

BULLET_LABEL = re.compile(r"^(?:step \d{1,3}|schritt \d{1,3})\s*[:.–—-]\s*", re.IGNORECASE)

_DOCUMENTS = (
    r"(?:(?:the|these|this|those|your|my|given|provided|available|supplied|retrieved|above|following|information|context"
    r"|in|from|of|source|relevant|reference|search|any|specific|details?|about|on|latest|recent|current"
    r"|(?:to|yester)day(?:'|’)s)\s+){0,8}"
    r"(?:documents?|documentation|contexts?|passages?|sources?|information|materials?|texts?|articles?|excerpts?|snippets?"
    r"|data|results?|records?|knowledge base|json)"
)
DOCUMENT_LEAD = re.compile(
    rf"^(?:based on|according to|from|per|as (?:stated|mentioned|described|per) (?:in|by)?)\s+{_DOCUMENTS}"
    r"(?:\s+(?:provided|given|above|available|i have|you provided|supplied))?\s*[,:]\s*",
    re.IGNORECASE,
)
"""A lead such as "Based on the given passages," without a statement of its own."""

_GREETING = (
    r"^(?:hi|hello|hey|dear|greetings|hallo|guten tag|bonjour)\b[^.:;\d]{0,25}[!.,:]?$"
    r"|^(?:sure(?: thing)?|certainly|of course|absolutely|(?:great|good) question|thanks?|thank you|danke|gerne|merci"
    r"|you(?:'|’)?re welcome|thank(?:s| you) for [^.:;\d]{0,60})[!.,:]?$"
    r"|^enjoy (?:your|the) (?:trip|stay|journey|flight|holidays?|vacation|meal|ride|visit|day|weekend|evening|walk|hike|show)[!.]?$"
    r"|^(?:have a (?:great|good|nice|safe|pleasant|wonderful) (?:trip|stay|journey|flight|day|weekend|evening|time)|good luck)[!.]?$"
)
_DISCLAIMER = (
    r"^(?:please note that )?this (?:is (?:not|no)|isn(?:'|’)t|(?:does not|doesn(?:'|’)t) constitute)"
    r" (?:legal|medical|tax|financial|investment|professional)(?: or (?:legal|medical|tax|financial|investment|professional))? advice[.!]?$"
)
_OFFER = (
    r"^(?:(?:please )?let me know|i hope (?:this|that) (?:helps|answers|clarifies)|is there anything)\b"
    r"|^(?:please )?feel free(?:[.!,]|$| to (?:ask|contact|reach|let|call|e-?mail|write|message|get|share|provide|tell|send|give|clarify"
    r"|rephrase|try|come|check|visit|return|start|drop|specify|follow|explore|consult|refer|respond|reply|submit|add|request|upload"
    r"|paste|say|elaborate|continue)\b)"
    r"|^if you (?:have|need) (?:any )?(?:more |further |other |additional )?"
    r"(?:questions?|help|assistance|information|details)"
    r"|^(?:(?:sure|certainly|of course)[,!] )?here(?:(?:'|’)?s| is| are)\b(?:[^.\d]{0,120}"
    r"|[^.\d]{0,40}\b(?:answer|summary|response|overview|list|explanation)\b[^.]{0,200}):$"
    r"|^(?:sure|certainly|of course|absolutely)[,!] (?:i (?:can|will|would)|i(?:'|’)(?:ll|d))\b[^.\d]{0,60}[!.:]$"
)
_REFUSAL = (
    r"^i(?:'|’)?(?: a)?m (?:sorry|unable|not able|an ai|just an ai)|^sorry\b|^unable to (?:answer|find|determine)"
    r"|^(?:unfortunately,? )?i (?:do not|don(?:'|’)t|can(?:'|’)?t|cannot|could not|couldn(?:'|’)t|am unable|was unable"
    r"|apologi[sz]e)\b"
    r"|\bunable to answer (?:this|that|the (?:question|query)|your|it|any|based|from|given|with|without|questions?)\b"
    r"|^(?:sorry, |unfortunately,? )?(?:there (?:is|was) |i have |i was given )?insufficient (?:evidence|information|context)\b"
    r"|\binsufficient (?:evidence|information|context) (?:\w+ ){0,4}to (?:answer|determine|say|tell|conclude|confirm|verify|know|assess)\b"
    r"|^(?:es tut mir leid|leider kann ich|ich wei(?:ß|ss) (?:es )?nicht|die dokumente enthalten keine|désolé"
    r"|je ne sais pas)"
)
_ABOUT_DOCUMENTS = (
    rf"^(?:unfortunately,? |however,? |but )?{_DOCUMENTS}\s+(?:provided |given |above )?"
    r"(?:does|do|did) ?(?:not|n(?:'|’)t)\s+(?:\w+\s+){0,2}?(?:contain|mention|provide|include|specify|state|say|give|address|discuss|answer|cover|indicate"
    r"|describe|explain|offer)"
    rf"|^there (?:is|are) (?:no|not enough|insufficient) {_DOCUMENTS}"
    r"\s+(?:about|on|regarding|concerning|that|to answer|available|provided|given"
    r"|in the (?:given |provided )?(?:context|passage|document|source|text))"
    r"|\b(?:is|are|was|were) not (?:explicitly |specifically |directly |clearly )?"
    r"(?:mentioned|provided|specified|stated|available|given|included|discussed|addressed|described|defined)"
    rf" (?:anywhere )?in {_DOCUMENTS}\b"
    rf"|^(?:based on|according to)\s+{_DOCUMENTS}(?:\s+\w+){{0,3}}\s*[:.,]?$"
)
ABOUT_DOCUMENTS = re.compile(_ABOUT_DOCUMENTS, re.IGNORECASE)
"""A remark that the documents do not say something (``search``)."""
META = re.compile("|".join((_GREETING, _DISCLAIMER, _OFFER, _REFUSAL, _ABOUT_DOCUMENTS)), re.IGNORECASE)
"""Greetings and wishes, disclaimers, refusals, offers of help, talk about the documents themselves (``search``)."""

_IT = "(?:it|this|that|them|these|those)"
REMARK = re.compile(
    r"(?:(?:ah|oh|okay|ok|sure|certainly|of course|alright|sorry|thanks|thank you)[,!.]? )?(?:"
    r"i see(?: what you mean)?|got it|understood|noted|my (?:mistake|bad)|get well soon"
    rf"|i (?:misunderstood|misread)(?: you| {_IT}| your (?:question|message|request))?|i mixed (?:{_IT}|the two|things) up"
    rf"|let me (?:explain|clarify|rephrase|check|correct)(?: {_IT}| myself)?(?: for you)?|let me take a look"
    rf"|let(?:'|’)s (?:see|begin|start over|get started|try again|(?:fix|clarify|work on) {_IT}"
    rf"|(?:go|walk|work) through {_IT}|break {_IT} down|take a (?:closer |quick )?look(?: at {_IT})?)(?: step by step| together| one by one)?"
    r"|(?:i(?:'|’)?m |i am )?(?:happy|glad) to (?:clarify|explain|help)"
    rf"|(?:i(?:'|’)?m |i am )?(?:happy|glad|great) (?:that |to hear )?{_IT} (?:helped|helps|worked|works)(?: for you)?|{_IT} helps"
    r"|i hope (?:he|she|they|you|your \w+) (?:feels?|gets?) (?:better|well) soon|i hope (?:it|this|your \w+|the \w+) goes (?:well|smoothly)"
    r"|have a (?:great|good|nice|safe|pleasant|wonderful|lovely) (?:time|trip|stay|journey|flight|holiday|vacation|day|weekend|evening)"
    r"(?: (?:in|at|with) [^\W\d]+(?: [^\W\d]+)?)?|good luck(?: (?:with|on|in|at) [^\W\d]+(?: [^\W\d]+){0,2})?"
    r"|here(?:'|’)?s (?:the difference|what happened|why|how)|here is (?:the difference|what happened|why|how)"
    rf"|{_IT}(?:'|’)?s an? (?:great|good|fair|excellent|interesting) question"
    r")[.!]",
    re.IGNORECASE,
)
"""Remarks of a conversation that state nothing and agree with nothing (``fullmatch``): "Got it.", "Let me check that."."""

DEPENDS = re.compile(
    rf"(?:{_IT} (?:all |really )?(?:depends|varies)(?: (?:on|by|with|from) [^\W\d]+(?: [^\W\d]+){{0,5}})?"
    r"|d(?:as|ies) (?:hängt (?:ganz )?von [^\W\d]+(?: [^\W\d]+){1,4} ab|kommt (?:ganz )?(?:darauf|auf [^\W\d]+(?: [^\W\d]+){1,3}) an)"
    r"|(?:cela|ça) dépend(?: (?:de|du|des) [^\W\d]+(?: [^\W\d]+){0,4})?"
    r"|(?:eso |esto |todo )?depende(?: (?:de|del|do|da|dos|das|dal|dalla|dai) [^\W\d]+(?: [^\W\d]+){0,4})?"
    r"|dipende(?: (?:da|dal|dalla|dai|dalle) [^\W\d]+(?: [^\W\d]+){0,4})?|d[ia]t hangt (?:er )?(?:van )?[^\W\d]+(?: [^\W\d]+){0,4}(?: af)?"
    r")[.!:]",
    re.IGNORECASE,
)
"""Openings that say nothing before the cases that follow (``fullmatch``): "That depends on the model."."""

TURN = re.compile(
    r"[,;]\s*(?:but|however|although|though|aber|jedoch|mais)\b[,\s]{1,20}+"
    r"(?!i (?:cannot|can['’]?t|am (?:not able|unable)|['’]?m (?:not able|unable)|do not|don['’]t|could not|was unable))"
    r"(?=(?:\S+\s+){3,6}\S)",
    re.IGNORECASE,
)
"""Mark the turn from text about the documents to a statement: "… do not say, but it costs $50 a month". "I'm sorry, but I
cannot …" is a refusal throughout.
"""

_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,400}>")
_INLINE_TAG = re.compile(r"</?(?:b|i|u|s|em|strong|mark|span|font|small|big|a|q)(?:\s[^<>]{0,400})?>", re.IGNORECASE)
_TITLE = re.compile(
    r"\s(?:title|alt)\s?=\s?(?:\"([^\"<>]{1,300})\"|'([^'<>]{1,300})')|\shref\s?=\s?[\"']?(?:mailto|tel):([^\"'<>?\s]{1,200})",
    re.IGNORECASE,
)
"""The title of a tag, or the address of mail or phone to which it leads."""
_EMPHASIS = re.compile(r"(?<!\w)[*_~]{1,3}(?=\S)|(?<=\S)[*_~]{1,3}(?!\w)|[*]{2,3}")
_QUOTE_LINE = re.compile(r"\n[ \t>]*")
_IMAGE = re.compile(r"!\[([^\[\]]{0,300})\]\([^()\s]{0,2000}(?:\s+\"([^\"\n]{0,300})\")?\)")
_SPACE = re.compile(r"\s+")
_SPACE_BEFORE_STOP = re.compile(r"\s+([.,;:!?])(?=\s|$)")


def plain_text(text: str) -> str:
    """Remove Markdown from a sentence and normalise it; return one line, for comparison only."""
    return _one_line(normalised(_without_markdown(text)))


def written_text(text: str) -> str:
    """Remove Markdown from a sentence and return one line as it is written, for readers."""
    return _one_line(_without_markdown(text))


def _without_markdown(text: str) -> str:
    """Remove emphasis, code ticks, tags and line marks; keep the titles of images and tags, which readers see."""
    text = _QUOTE_LINE.sub(" ", text)
    if "[" in text:
        text = _IMAGE.sub(lambda match: " ".join(filter(None, match.groups())), text)
    if "<" in text:
        text = _TAG.sub(_title_of_tag, _INLINE_TAG.sub(_title_of_tag_within_a_word, text))
    text = _EMPHASIS.sub("", text).replace("`", "")
    return html.unescape(text) if "&" in text else text


def _one_line(text: str) -> str:
    return _SPACE_BEFORE_STOP.sub(r"\1", _SPACE.sub(" ", text)).strip()


def _title_of_tag(tag: re.Match[str]) -> str:
    title = _TITLE.search(tag[0])
    return f" {title[title.lastindex or 0]} " if title else " "


def _title_of_tag_within_a_word(tag: re.Match[str]) -> str:
    return _title_of_tag(tag) if _TITLE.search(tag[0]) else ""
