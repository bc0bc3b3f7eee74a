"""The text of an error is a failed call in any form and language; an answer about errors is none."""

import pytest

from schemas.answers import GeneratedAnswer
from workers.evaluation.quality.error_texts import is_error_text
from workers.evaluation.quality.failure_signals import find_signals, is_tool_failure, stated_failure
from workers.evaluation.thresholds import FeedbackRules, QualityThresholds
from workers.feedback.implicit_signals import OPENING, execution_signals

DEFAULTS = QualityThresholds()

ERROR_TEXTS = [
    "ERROR 2002 (HY000): Can't connect to local MySQL server through socket '/var/run/mysqld/mysqld.sock'",
    "thread 'main' panicked at src/llm.rs:41:10: called `Result::unwrap()` on an `Err` value: Timeout",
    "Interner Serverfehler (500). Bitte versuchen Sie es später erneut.",
    '{"detail": [{"loc": ["body", "prompt"], "msg": "field required", "type": "value_error.missing"}]}',
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9120 tokens. Please reduce the length of the messages.",
    "[tool_error] directory_lookup returned status 503 (service unavailable)",
    "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/app/main.go:17 +0x1d",
    'Exception in thread "main" java.lang.NullPointerException: Cannot invoke "String.length()"\n\tat com.acme.Main.main(Main.java:5)',
    "TypeError: Cannot read properties of undefined (reading 'choices')\n    at ask (/srv/app/llm.js:44:19)\n    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)",
    "System.NullReferenceException: Object reference not set to an instance of an object.\n   at Acme.Tools.Search.Run(String query) in C:\\src\\Search.cs:line 31",
    "PHP Fatal error:  Uncaught Error: Call to a member function get() on null in /var/www/a.php:12\nStack trace:\n#0 {main}\n  thrown in /var/www/a.php on line 12",
    "ORA-12541: TNS:no listener",
    "SQLSTATE[HY000] [2006] MySQL server has gone away",
    'ERROR:  relation "tickets" does not exist\nLINE 1: SELECT * FROM tickets',
    'psycopg2.errors.UndefinedTable: relation "tickets" does not exist',
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx/1.25.3</center>\r\n</body>\r\n</html>",
    "<!DOCTYPE html><html><head><title>example.com | 504: Gateway time-out</title></head><body>...</body></html>",
    "HTTP/1.1 503 Service Unavailable\nRetry-After: 30\n\n",
    "503 Service Unavailable",
    "HTTP 500: Internal Server Error",
    "Error 404: Not Found",
    '{"error": {"message": "Rate limit reached for gpt-4o in organization org-x", "type": "tokens", "param": null, "code": "rate_limit_exceeded"}}',
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    '{"message": "Internal Server Error"}',
    '{"timestamp":"2024-05-01T10:00:00","status":500,"error":"Internal Server Error","path":"/v1/chat"}',
    '{"success": false, "message": "The upstream did not answer in time"}',
    '```json\n{"error": "timeout"}\n```',
    "Rate limit reached for gpt-4o in organization org-abc on tokens per min (TPM): Limit 30000, Used 29000, Requested 2500. Please try again in 3s.",
    "The server is currently overloaded with other requests. Please try again later.",
    "That model is currently overloaded with other requests. You can retry your request.",
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
    "You exceeded your current quota, please check your plan and billing details.",
    "Incorrect API key provided: sk-abc***. You can find your API key at https://platform.example.com.",
    "prompt is too long: 213412 tokens > 200000 maximum",
    "Overloaded",
    "Request timed out.",
    "upstream connect error or disconnect/reset before headers. reset reason: connection failure",
    "context deadline exceeded",
    "rpc error: code = Unavailable desc = connection error",
    "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.78 GiB total capacity)",
    "bash: psql: command not found",
    "curl: (7) Failed to connect to localhost port 8080 after 0 ms: Connection refused",
    "connect ECONNREFUSED 127.0.0.1:6379",
    "Your input was rejected by our safety system.",
    "Zeitüberschreitung der Anforderung.",
    "Der Dienst ist derzeit nicht verfügbar. Bitte versuchen Sie es später noch einmal.",
    "Es ist ein unerwarteter Fehler aufgetreten.",
    "Die Verbindung zum Server konnte nicht hergestellt werden.",
    "Zu viele Anfragen. Bitte warten Sie einen Moment.",
    "Erreur interne du serveur. Veuillez réessayer plus tard.",
    "Une erreur est survenue lors du traitement de votre demande.",
    "Service temporairement indisponible.",
    "Délai d'attente dépassé.",
    "Error interno del servidor. Inténtelo de nuevo más tarde.",
    "Se ha agotado el tiempo de espera.",
    "Servicio no disponible temporalmente.",
    "Errore interno del server.",
    "Si è verificato un errore imprevisto. Riprova più tardi.",
    "Erro interno do servidor.",
    "Ocorreu um erro inesperado. Tente novamente mais tarde.",
    "Interne serverfout. Probeer het later opnieuw.",
    "Er is een fout opgetreden.",
    "Wewnętrzny błąd serwera. Spróbuj ponownie później.",
    "Wystąpił nieoczekiwany błąd.",
    "Внутренняя ошибка сервера.",
    "Произошла ошибка. Повторите попытку позже.",
    "内部サーバーエラーが発生しました。",
    "エラーが発生しました。しばらくしてからもう一度お試しください。",
    "服务器内部错误，请稍后再试。",
    "请求超时，请重试。",
    "내부 서버 오류가 발생했습니다.",
    "요청 시간이 초과되었습니다.",
    "حدث خطأ داخلي في الخادم.",
    "Ett oväntat fel inträffade. Försök igen senare.",
    "Der opstod en fejl. Prøv igen senere.",
    "Bir hata oluştu. Lütfen daha sonra tekrar deneyin.",
    "Došlo k chybě. Zkuste to prosím později.",
    "Tapahtui virhe. Yritä myöhemmin uudelleen.",
    "undefined method `content' for nil:NilClass (NoMethodError)",
    "app.rb:12:in `ask': undefined method `content' for nil (NoMethodError)\n\tfrom app.rb:20:in `<main>'",
    "** (RuntimeError) upstream closed",
    "error[E0382]: borrow of moved value: `x`",
    "Error response from daemon: No such container: llm",
    'Traceback (most recent call last):\n  File "/app/main.py", line 12, in run\n    raise ValueError("no docs")\nValueError: no docs',
    "HTTP Error 429: Too Many Requests",
    "error: the following arguments are required: --query",
    "java.net.SocketTimeoutException: Read timed out",
    "Error: Request failed with status code 502",
    'kubectl: error: the server doesn\'t have a resource type "pod"',
    'Error from server (NotFound): pods "llm-0" not found',
    "[ERROR] Model inference failed: CUDA error: device-side assert triggered",
    "Unhandled exception. System.InvalidOperationException: Sequence contains no elements",
    "Fehler 500: Interner Serverfehler",
    "Unbekannter Fehler bei der Verarbeitung der Anfrage.",
    "Server nicht erreichbar.",
    "Erreur 503 : service indisponible",
    "Error 500: Error interno del servidor",
    "El servicio no está disponible en este momento. Inténtelo más tarde.",
    "La solicitud ha caducado.",
    "La richiesta è scaduta. Riprova.",
    "Serverfout (502).",
    "Serwer jest tymczasowo niedostępny. Spróbuj ponownie później.",
    "Сервер временно недоступен. Попробуйте позже.",
    "サーバーに接続できませんでした。",
    "网络异常，请稍后重试",
    '{"code":"context_length_exceeded","message":"This model\'s maximum context length is 4097 tokens"}',
    '{"errors":[{"message":"Cannot query field \\"x\\" on type \\"Query\\".","locations":[{"line":1,"column":3}]}]}',
    '{"status": 429, "title": "Too Many Requests", "detail": "slow down", "type": "about:blank"}',
    '{"detail":"Not authenticated"}',
    "{'error': 'timeout', 'code': 504}",
    '[{"error": {"code": 503, "message": "The model is overloaded. Please try again later.", "status": "UNAVAILABLE"}}]',
    '{"message":"Endpoint request timed out"}',
    '{"__type":"ThrottlingException","message":"Rate exceeded"}',
    '<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>',
    "Service Unavailable",
    "Gateway Timeout",
    "Too Many Requests",
    "The model `gpt-9` does not exist or you do not have access to it.",
    'I/O error on GET request for "http://llm:8000/v1": Connection refused',
    "Connection error.",
    "Internal server error",
    "Stream error: connection closed before message completed",
    "Sorry, something went wrong. Please try again later.",
    "Error: 14 UNAVAILABLE: No connection established",
    "openai.error.RateLimitError: You exceeded your current quota, please check your plan and billing details.",
    "Resource has been exhausted (e.g. check quota).",
    "Request was throttled. Expected available in 12 seconds.",
    "Response blocked by content filter.",
    "Deadline Exceeded",
    "Segmentation fault (core dumped)",
    "Killed",
    "goroutine 17 [running]:\nruntime/debug.Stack()\n\t/usr/lib/go/src/runtime/debug/stack.go:24 +0x65",
    "2024-05-01T10:00:00Z ERROR [llm] upstream closed the connection",
    "[object Object]",
]

ANSWERS = [
    "Beyond 600 requests a minute the API answers with 429 Too Many Requests.",
    "429 Too Many Requests is what the API returns beyond 600 requests a minute.",
    "502 Bad Gateway means that the proxy got no valid answer from the server behind it.",
    "ORA-12541 means that no listener runs on that port.",
    "'Paper jam B' appears because a sheet is stuck at the rear roller.",
    "Update to version 1.4.1; version 1.4 ends with a segmentation fault if the input file is empty.",
    '{"answer": "The pump weighs 12 kg.", "error": null}',
    '{"name": "Halden drill", "type": "drill", "status": "in stock"}',
    '{"error_rate": 0.02}',
    '{"error": "0.5 mm", "unit": "mm"}',
    '{"message": "The gate opens at 8."}',
    '{"status": "active", "name": "Blue"}',
    "TypeError: x is not a function\n\nThis means that x holds no function when line 4 runs. Check the import.",
    "The maximum context length of this model is 8192 tokens.",
    "This model's maximum context length is 32,000 tokens.",
    "The rate limit is 600 requests a minute.",
    "The server is overloaded when more than 400 users log in.",
    "<html><head><title>How to fix a 502 Bad Gateway</title></head><body><p>Restart the upstream.</p></body></html>",
    "<h1>Opening hours</h1><p>From 9 to 17.</p>",
    "```\nkubectl get pods -n shop\n```",
    "Error 404 is shown when the page was deleted.",
    "F3 heißt, dass der Außenfühler defekt oder nicht angeschlossen ist.",
    "Der Fehler tritt auf, wenn der Server nicht erreichbar ist.",
    "Der Server war am Montag zwei Stunden lang nicht verfügbar.",
    "L'erreur 500 indique un problème du serveur.",
    "Error margin: 3 percent",
    "FATAL accidents fell by 12 percent in 2023.",
    "Error 17 points to a worn belt.",
    "Killed: 3 sheep and a goat.",
    "Panic rooms must have a second exit.",
    "Code 503 stands for a blocked vent.",
    "Service unavailable on Sundays; on other days the desk answers until 17.",
    "Der Dienst ist am Sonntag nicht verfügbar.",
    "Le service est indisponible le dimanche.",
    "The export failed because the disk was full.",
    "It accepts up to 16,000 tokens; longer prompts fail with 'context_length_exceeded'.",
    "500 errors were found in the proofs of the book.",
    "404 guests stayed in the hotel.",
    "502 Bad Gateway: the proxy received an invalid response, usually because the app is down.",
    "1. Restart the server.\n2. Clear the cache.\n3. Try again.",
    "Timeout errors: raise the limit to 60 seconds.",
    "Le délai d'attente est de 30 secondes.",
    "Произошла ошибка в 2019 году, когда насос сломался.",
    "The request timed out twice last night, so the batch was run again at 6.",
    "Connection errors are retried three times.",
    "Access denied is the title of her third novel.",
    "The server is unavailable on Sundays from 2 to 4.",
    "Deadline: 30 September",
    "Error code E5: the water tank is empty.",
    "Status 3 of the valve is open.",
    '{"city": "Oslo", "country": "Norway"}',
    '[{"name": "Ann"}, {"name": "Bob"}]',
    '{"code": "NO-17", "title": "Plan of the harbour"}',
    '{"status": "open", "message": "Ticket 12 is open."}',
    '{"type": "invoice", "detail": {"total": 12}}',
    '{"title": "Error analysis of the probe", "type": "report"}',
    "An internal error of 2 mm was measured at the flange.",
    "Permission denied: the council refused the building permit on 3 May.",
    "No such table was ever made by the joiner.",
    "Service Unavailable (2019) is a film by Ana Roth.",
    "Erreur de calcul : la facture a été corrigée le 3 mai.",
    "Es ist ein Fehler aufgetreten, weil der Sensor verschmutzt war.",
    "Interner Fehler 12 bedeutet, dass der Lüfter steht.",
    "Server: 3 in Köln, 2 in Ulm.",
    "Zu viele Anfragen führen ab 100 je Minute zu einer Sperre.",
    "Troppe richieste al minuto bloccano l'account per un'ora.",
    "サーバーエラーとは、サーバー側で起きる問題です。",
    "服务器错误500表示服务器端出了问题。",
    "The error was found in line 12 of the contract.",
    "at Pier 7 (north side)",
    "#1 Main Street",
    "1: the red wire, 2: the blue wire.",
    "curl: use it with -x to set a proxy.",
    "git: a version control system that was written in 2005.",
    "node: a place where branches meet.",
    "Exception: dogs are allowed in the garden.",
    "Timeout: 30 seconds",
    "Error: none",
    "Invalid tickets cost 60 euros.",
    "Model X is not available in Norway.",
    "The model is overloaded with details, critics wrote.",
    "Rate limit: 600 requests a minute.",
    "Limit erreicht man nach 100 Anfragen.",
    "OverflowError",
]


@pytest.mark.parametrize("text", ERROR_TEXTS)
def test_the_text_of_an_error_is_a_failed_call(text: str) -> None:
    assert is_tool_failure(find_signals(text, DEFAULTS))
    assert stated_failure(text, DEFAULTS) == "tool_failure"


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_about_errors_is_no_failed_call(text: str) -> None:
    assert not is_tool_failure(find_signals(text, DEFAULTS))
    assert stated_failure(text, DEFAULTS) is None or stated_failure(text, DEFAULTS) == "refusal"


def execution_error(text: str, contexts: list[str] | None = None) -> str | None:
    answer = GeneratedAnswer.model_validate(
        {
            "answer_id": "a",
            "query": "Where is the archive, and since when?",
            "answer": text,
            "completed_at": "2026-01-01T00:00:00Z",
            "contexts": [
                {"chunk_id": str(number), "content": content} for number, content in enumerate(contexts or [])
            ],
        }
    )
    return execution_signals(answer, FeedbackRules(), DEFAULTS).error_type


def test_a_long_error_body_is_a_failed_call_though_only_the_opening_is_searched_for_words() -> None:
    body = '{"detail": [' + ", ".join(['{"loc": ["body"], "msg": "field required"}'] * 20) + "]}"
    assert len(body) > OPENING
    assert execution_error(body) == "tool_failure"


def test_an_error_that_a_passage_holds_is_quoted() -> None:
    line = "503 Service Unavailable"
    assert execution_error(line) == "tool_failure"
    assert execution_error(line, [f"The gateway answers with {line} while it starts."]) is None


@pytest.mark.parametrize("unit", ["  at a(", "[", "{", "<title>", "a.", "\n\t", "Error in ", "ERROR "])
def test_a_hostile_text_is_read_in_bounded_time(unit: str) -> None:
    assert not is_error_text(unit * 20_000 + "x")
