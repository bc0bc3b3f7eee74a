"""Recognise answers that are the text of an error: a stack trace, an error body, an error page or a message of a server.

The form decides, in any language: an answer that explains an error has sentences of its own beside it. Messages in the
words of one language stand in its pattern pack.

Pure; time is linear in the length of the answer.
"""

import json
import re
from typing import Any

from workers.evaluation.text.words import word_set

MAX_LENGTH = 20_000
"""Length of an answer that is read, code points; a longer body is cut, and a cut body is known by its beginning."""
MAX_LINE = 400
"""Length of a line that is read, code points."""
MAX_PROSE = 600
"""Maximum length of an error text without the lines of its stack, code points."""

_REASONS = (
    r"(?:bad request|unauthori[sz]ed|payment required|forbidden|(?:page |resource |file |model )?not found"
    r"|method not allowed|not acceptable|proxy authentication required|request time-?out|conflict|gone"
    r"|payload too large|request entity too large|uri too long|unsupported media type|unprocessable (?:entity|content)"
    r"|too many requests|internal (?:server )?error|not implemented|bad gateway|service (?:temporarily )?unavailable"
    r"|gateway time-?out|web server is down|connection timed out|origin is unreachable|overloaded)"
)
_SOLE = r"(?=\s*(?:$|[.:;,(\[{|/<\n–—-]))"
"""Nothing of a sentence follows: "502 Bad Gateway", but not "502 Bad Gateway means …"."""
_STATUS = re.compile(
    rf"\W*(?:http(?:/\d(?:\.\d)?)?\s+)?(?:(?:response\s+)?status(?:[ _-]?code)?\W{{1,3}})?(?:(?:server |client )?error\W{{1,3}})?"
    rf"(?:code\W{{1,3}})?[45]\d\d\W{{1,4}}{_REASONS}{_SOLE}|\W*{_REASONS}\W{{1,3}}[45]\d\d{_SOLE}",
    re.IGNORECASE,
)
_HEAD = re.compile(
    r"""\W{0,3}(?:
      ERROR:?\ (?:\d{4,5}|\([0-9A-Z]{5}\)|\d{4,5}\ \([0-9A-Z]{5}\))\b
    | [Ee]rror\ (?:from|response\ from|in|on|at|while|during|calling|executing)\ [^.]{1,80}[:(]\ ? | \d{4}-\d\d-\d\d[T\ \d:.,Z+-]*\W{1,3}(?:ERROR|FATAL|CRITICAL|SEVERE)\b
    | (?:ORA|PLS|TNS|DB2|SQL|IMP|RMAN)-?\d{4,5}[A-Z]?\s?: | SQLSTATE\W\w{5}\b | Msg\ \d+,\ Level\ \d+ | (?:Parse|Runtime)\ error\ (?:near|in)\b
    | (?:psql|mysql|sqlite3?|pg_dump|mongosh?|redis-cli|kubectl|docker|git|curl|wget|ssh|scp|ping|npm|yarn|pip|cargo|go|java|node
        |python\d?|bash|sh|zsh|sudo|cat|ls|cp|mv|rm|cd|make|gcc|ld|nginx|systemctl)
      (?::\ |\ ERR!\ |\ error\ )(?:.*?:\ )?(?:\(\d+\)|.{0,80}?(?:error|fail|fatal|could\ not|couldn't|cannot|can't|not\ found|no\ such|denied|refused|timed\ out|unable|invalid|unknown|ERR))
    | thread\ '[^']*'\ (?:\(\d+\)\ )?panicked\ at | error(?:\[E\d{4}\]|\ [A-Z]{1,3}\d{4}):\ | goroutine\ \d+\ \[ | panic:\ | fatal\ error:\ | fatal:[ ]
    | rpc\ error:\ code\ = | dial\ tcp\b.*: | (?:Get|Post|Put|Head)\ "https?://[^"]+":[ ]
    | (?:connect\ |getaddrinfo\ |read\ |write\ )?E(?:CONNREFUSED|CONNRESET|NOTFOUND|TIMEDOUT|HOSTUNREACH|PIPE|AI_AGAIN|ACCES|NOENT|MFILE)\b(?=[\s:]|$)(?!\ (?:is|means|was|bedeutet))
    | getaddrinfo\ EAI_AGAIN
    | \[Errno\ -?\d+\] | \[?WinError\ \d+\]
    | upstream\ (?:connect\ error|request\ timeout|prematurely\ closed) | no\ healthy\ upstream
    | (?:PHP\ )?(?:Fatal|Parse|Catchable\ fatal)\ error:\ | \*\*\ \(\w[\w.]*\)\ | \*{3}\ (?:stack\ smashing|Error\b|glibc) | terminate\ called\ after
    | Unhandled\ (?:\w+\ )?(?:[Ee]xception|[Rr]ejection|promise\ rejection|[Ee]rror)\b[^.]*(?::|\.?$) | Uncaught\ (?:\(in\ promise\)|\w*Error|[Ee]xception)
    | (?:Exception|Error)\ in\ thread\b | Traceback\ \(most\ recent\ call\ last\) | stack\ (?:back)?trace:\s*$
    | (?:\w+\.)+(?:errors?|exc|exceptions?)\.\w+:\  | (?:[\w$]+\.)+[\w$]*(?:Exception|Error|Failure|Fault|Timeout)(?::\ |\ \(|\()
    | [A-Z][\w$]*(?:Exception|Error)(?:\ \[\w+\])?(?::\ |\(['"])
    | (?:CUDA|torch\.cuda|Out\ of\ memory:|OOMKilled|Killed\s*$|Bus\ error|Aborted\ \(core|Segmentation\ fault\s*(?:\(core|$)|core\ dumped)
    | I/O\ error\b | [\[<(](?i:(?:[\w-]+[\ _:.-])?(?:error|exception|failure|timeout|fatal|critical)(?:[\ _:.-][\w-]+)?)[\])>]\s*:?\s*\S | \[object\ Object\]
    )""",
    re.VERBOSE,
)  # fmt: skip
_NAME = re.compile(r"(?:[\w$]+\.)*[\w$]*(?:Exception|Error|Failure|Fault|Timeout)\s*")
_FRAME = re.compile(
    r"""\s*(?:
      File\ ".+",\ line\ \d+ | (?:at|in)\ (?:async\ |new\ )?[\w$.<>/@\[\]:\\-]+(?:\ \[as\ \w+\])?\s?\(.*\)(?:\ in\ .+:line\ \d+|:\d+)? | at\ .+:\d+(?::\d+)?\)?
    | (?:from\ )?\S+\.(?:rb|go|rs|py|js|ts|php|pl|ex|c|cc|cpp|java|kt|swift|hs|lua):\d+.* | \#\d+\ .+ | \d+:\s+(?:0x\w+\s+-\s+)?[\w<>:{}$]+(?:::.*)?
    | goroutine\ \d+\ \[.* | \.\.\.\ \d+\ (?:more|common\ frames.*) | (?:Caused\ by|Suppressed):\ .+ | note:\ .+ | stack\ backtrace:
    | (?:During\ handling\ of|The\ above\ exception\ was).* | \([\w.]+\ [\d.]+\)\ .+:\d+:.* | exit\ (?:status|code)\W+\d+ | \[signal\ .* | created\ by\ .*
    )\s*$""",
    re.VERBOSE,
)  # fmt: skip
_EXPLAINS = re.compile(
    r"\b(?:means?|meaning|indicates?|signals?|usually|typically|refers? to|stands for|(?:is|are) (?:raised|returned|thrown|shown|sent|logged|reported)"
    r"|occurs|appears|happens|to (?:fix|solve|resolve|avoid) (?:this|it|the)|you (?:can|should|need|have to|must) "
    r"(?!try again|retry|reduce|provide|be|wait)"
    r"|bedeutet|heißt|weist darauf|tritt auf|wird (?:ausgegeben|angezeigt)|signifie|indique|s'affiche|survient quand|significa|indica|quiere decir"
    r"|betekent|oznacza|означает|значит|betyder|znamená)\b|という意味|意味します|表示|意思是|表示|뜻"
)
_FENCED = re.compile(r"(`{3,}|~{3,})[^\n`]*\n(.*?)\n?\1", re.DOTALL)

_ERROR_KEYS = word_set(
    "error errors exception fault traceback stacktrace stack stack_trace errorcode error_code errormessage error_message"
    " error_msg errmsg errcode errortype error_type error_description exceptionclass exception_type failure"
)
_BESIDE_KEYS = word_set(
    "detail details message msg title status statuscode status_code code type reason path timestamp instance request_id"
    " requestid loc param trace_id traceid trace correlationid correlation_id success ok retry_after retryafter help hint"
    " documentation_url cause domain metadata __type data result response context model id object url method name ctx input"
    " innererror inner_error target line column position severity severity_local position file routine where http_code"
)
_FAILED_NAME = re.compile(
    r"(?i)[\w.#:/-]*(?:error|err|fail(?:ed|ure)?|exception|time-?out|overloaded|invalid|denied|unavailable|missing|exceeded|throttl)[\w.#:/-]*"
)
_FAILED_MESSAGE = re.compile(
    rf"(?i)^{_REASONS}\W*$|\b(?:timed out|(?:rate|limit|quota) exceeded|internal error|(?:is|are) overloaded|server error"
    r"|try again later)\b|^[\w.]*(?:error|exception)\W*$"
)
_CUT_BODY = re.compile(r"""\s*\{\s*["'](?:errors?|exception|fault|error_?(?:code|message|type))["']\s*:\s*(?:["'{]\s*\D|\[\s*[{"'])""", re.IGNORECASE)  # fmt: skip
_PAGE = re.compile(r"<!doctype html|<html|<head|<title|<center|<h1|<body|<\?xml|<error|<fault|<soap|<exception", re.I)
_PAGE_TITLE = re.compile(r"<(?:title|h1)[^>]*>([^<]{1,200})<", re.IGNORECASE)
_PAGE_FAILED = re.compile(
    rf"(?i)(?:^|[|:•-]\s*|\b[45]\d\d\b.{{0,4}}){_REASONS}\W*$|^(?:http )?(?:error|status|fehler|erreur)?\W{{0,3}}[45]\d\d\b|\b[45]\d\d: "
    r"|^(?:application|server|proxy|gateway|runtime|database|ssl) error\b|^(?:an? )?(?:unexpected )?error(?: occurred)?\W*$|^access denied\b|^attention required"
    r"|^(?:site|service|page) (?:temporarily )?(?:unavailable|not available|under maintenance)|^something went wrong"
    r"|(?:server|anwendungs|interner )\s?fehler|nicht verfügbar$|erreur (?:interne|du serveur)|error interno"
)
_PAGE_EXPLAINS = re.compile(
    r"(?:how|why|what|when|fixing|understanding|wie|warum|was|comment|pourquoi|cómo)\b", re.IGNORECASE
)
_XML_FAILED = re.compile(r"<(?:\w+:)?(?:error|fault|exception)\b[^>]*>.*?<(?:\w+:)?(?:code|message|faultstring|faultcode|reason)\b", re.I | re.S)  # fmt: skip


def is_error_text(text: str) -> bool:
    """Return true if an answer is the text of an error and nothing else."""
    body = text.strip()[:MAX_LENGTH]
    if fenced := _FENCED.fullmatch(body):
        body = fenced[2].strip()
    if not body:
        return False
    if body[0] in "{[" and (found := _is_error_body(body)) is not None:
        return found
    if body[0] == "<" and _PAGE.match(body):
        return _is_error_page(body)
    return _is_error_message(body)


def _is_error_body(body: str) -> bool | None:
    """Return whether a JSON value reports an error; ``None`` if the text is not JSON."""
    try:
        return _reports_error(json.loads(body))
    except (ValueError, RecursionError):
        return True if _CUT_BODY.match(body) else None


def _reports_error(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(entry, dict) and _reports_error(entry) for entry in value)
    if not isinstance(value, dict) or not value:
        return False
    fields = {str(key).lower(): entry for key, entry in value.items()}
    if not fields.keys() <= _ERROR_KEYS | _BESIDE_KEYS:
        return False
    if any(fields.get(key) for key in ("result", "response", "data")) and not fields.keys() & _ERROR_KEYS:
        return False
    return any(_tells_error(key, entry) for key, entry in fields.items())


def _tells_error(key: str, value: Any) -> bool:
    if key in _ERROR_KEYS:
        return value is True or (isinstance(value, dict | list) and bool(value)) or _is_words(value)
    if key in ("success", "ok"):
        return value is False
    if key in ("status", "statuscode", "status_code", "http_code", "code") and re.fullmatch(r"[45]\d\d", str(value)):
        return True
    if key in ("status", "code", "type", "__type", "name"):
        return isinstance(value, str) and bool(_FAILED_NAME.fullmatch(value))
    if key in ("title", "message", "msg"):
        return isinstance(value, str) and bool(_FAILED_MESSAGE.search(value))
    if key == "detail":
        return isinstance(value, str | list) and bool(value) and not _EXPLAINS.search(str(value))
    return False


def _is_words(value: Any) -> bool:
    """Return true for a text that begins with no number: "timeout", but not the "0.5 mm" of a measurement."""
    return isinstance(value, str) and bool(re.match(r"\W*[^\W\d]|[45]\d\d\b", value))


def _is_error_page(body: str) -> bool:
    titles = [title.strip() for title in _PAGE_TITLE.findall(body[:MAX_LENGTH])]
    if any(_PAGE_FAILED.search(title) and not _PAGE_EXPLAINS.match(title) for title in titles):
        return True
    return not titles and bool(_XML_FAILED.search(body))


def _is_error_message(body: str) -> bool:
    lines = [line[:MAX_LINE] for line in body.splitlines() if line.strip()]
    frames = [number for number, line in enumerate(lines) if number and (_FRAME.match(line) or line[0] in " \t")]
    stacked = any(_FRAME.match(lines[number]) for number in frames)
    first = lines[0]
    if not (_STATUS.match(first) or _HEAD.match(first)) and not (
        stacked and (_FRAME.match(first) or _NAME.fullmatch(first))
    ):
        return False
    spoken = "\n".join(line for number, line in enumerate(lines) if number not in set(frames))
    return len(spoken) <= MAX_PROSE and not _EXPLAINS.search(spoken)
