"""Check answers that give an address, a file, an option or a name of code, through all rules together."""

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.facts.addresses import KnownAddresses, read_addresses

CONTACT = (
    "Refunds are described at https://help.example.com/warranty. Write to service@example.com or call +49 30 1234567."
    " The form is in /opt/forms/refund.pdf, number RF-2210. The web server is web-01.example.net at 10.0.4.17, port 8443."
    " The file is called backup_2024.tar.gz. Log in as the user svc_backup. Use the function connect_db()."
)
DESKS = (
    "For invoices write to billing@example.com. Technical problems are handled at help@example.com."
    " Journalists contact press@example.com."
)
TEAMS = (
    "| Team | E-mail | Channel |\n|---|---|---|\n| Payments | pay-oncall@corp.example | #payments |\n"
    "| Search | search-oncall@corp.example | #search |"
)
SERVERS = (
    "The staging server runs at staging.example.net; production runs at app.example.net. Logs of staging are kept in"
    " /var/log/staging/app.log, those of production in /var/log/prod/app.log."
)
USERS = (
    '{"users":[{"name":"Ana Diaz","email":"ana.diaz@corp.example","login":"adiaz_01"},'
    '{"name":"Ben Ode","email":"ben.ode@corp.example","login":"bode_77"}]}'
)
OPTIONS = (
    "Use the option --dry-run to see what would be deleted. With --force the files are deleted without a question."
)
CODE = (
    "The function open_session() starts a session and close_session() ends it. The setting session_ttl limits its length;"
    " session_max limits their number."
)
JOBS = "Please send applications to jobs@firma.example; questions about an existing application go to bewerber@firma.example."
FILES = "Set TIMEOUT_READ for reads and TIMEOUT_WRITE for writes. Overrides lie in ~/.config/app/local.toml."
GERMAN = "Rechnungen schicken Sie an rechnung@firma.example, Bewerbungen an jobs@firma.example."
SCRIPTS = "The script build.sh compiles the project. Settings are read from config.yaml, secrets from secrets.env."

PAIRS = [
    (
        "How do I reach support?",
        CONTACT,
        "You can write to service@example.com.",
        "You can write to support@example.com.",
    ),
    ("What is the e-mail address?", CONTACT, "service@example.com", "support@example.com"),
    ("Where is the form?", CONTACT, "The form is in /opt/forms/refund.pdf.", "The form is in /opt/forms/return.pdf."),
    ("Where is the form?", CONTACT, "/opt/forms/refund.pdf", "/var/forms/refund.pdf"),
    ("Which web server?", CONTACT, "web-01.example.net", "web-02.example.net"),
    ("What is the file called?", CONTACT, "The file is backup_2024.tar.gz.", "The file is backup_2024.zip."),
    ("Which user?", CONTACT, "Log in as `svc_backup`.", "Log in as `svc_admin`."),
    ("Which function?", CONTACT, "Call `connect_db()`.", "Call `open_db()`."),
    ("Where do I report a technical problem?", DESKS, "Write to help@example.com.", "Write to billing@example.com."),
    ("Which address is for invoices?", DESKS, "billing@example.com", "help@example.com"),
    ("Who handles technical problems?", DESKS, "They go to help@example.com.", "They go to press@example.com."),
    ("Whom do I page for search?", TEAMS, "search-oncall@corp.example", "pay-oncall@corp.example"),
    (
        "Whom do I page for search?",
        TEAMS,
        "The on-call address of the Search team is search-oncall@corp.example.",
        "The on-call address of the Search team is pay-oncall@corp.example.",
    ),
    (
        "Where does production run?",
        SERVERS,
        "Production runs at app.example.net.",
        "Production runs at staging.example.net.",
    ),
    (
        "Where are the logs of production?",
        SERVERS,
        "Production logs are kept in /var/log/prod/app.log.",
        "Production logs are kept in /var/log/staging/app.log.",
    ),
    (
        "What is Ben's e-mail?",
        USERS,
        "Ben Ode's e-mail address is ben.ode@corp.example.",
        "It is ana.diaz@corp.example.",
    ),
    ("What is Ana's login?", USERS, "Ana's login is adiaz_01.", "Ana's login is bode_77."),
    (
        "How do I see what would be deleted?",
        OPTIONS,
        "Run it with --dry-run to see what would be deleted.",
        "Run it with --force to see what would be deleted.",
    ),
    ("How do I see what would be deleted?", OPTIONS, "Use --dry-run.", "Use --simulate."),
    ("Which function ends a session?", CODE, "close_session()", "open_session()"),
    ("Which setting limits the number of sessions?", CODE, "session_max", "session_ttl"),
    ("Where do I send my application?", JOBS, "Send it to jobs@firma.example.", "Send it to bewerber@firma.example."),
    ("Which variable limits writes?", FILES, "TIMEOUT_WRITE", "TIMEOUT_READ"),
    ("Where do overrides go?", FILES, "~/.config/app/local.toml", "~/.config/app/overrides.toml"),
    ("Wohin schicke ich eine Rechnung?", GERMAN, "An rechnung@firma.example.", "An jobs@firma.example."),
    (
        "Where are secrets read from?",
        SCRIPTS,
        "Secrets are read from secrets.env.",
        "Secrets are read from config.yaml.",
    ),
]
WRONG = frozenset(("contradicted", "unsupported"))


@pytest.mark.parametrize(("question", "source", "right", "wrong"), PAIRS, ids=[wrong for *_, wrong in PAIRS])
def test_an_address_that_is_made_up_or_of_another_purpose_is_noticed(
    question: str, source: str, right: str, wrong: str
) -> None:
    assert not verdicts_on(question, source, right) & WRONG
    assert verdicts_on(question, source, wrong) & WRONG


def test_an_address_of_the_question_needs_no_source() -> None:
    source = "The file holds the settings of the mail server and is read once a minute."
    said = "/etc/mail/server.conf holds the settings of the mail server."
    assert "unsupported" in verdicts_on("What is in that file?", source, said)
    assert verdicts_on("What is in /etc/mail/server.conf?", source, said) == {"supported"}


@pytest.mark.parametrize(
    "text",
    [
        "24/7 and/or 1/2/2024, he/she, km/h",
        "Node.js, e.g. i.e. U.S. 2.5 v2.14.3 at 10 a.m.",
        "_so_ __init so-called well-known",
        "set your_api_key and my_table",
        "The end.The next sentence",
    ],
)
def test_other_words_with_marks_are_no_addresses(text: str) -> None:
    assert read_addresses(text) == frozenset()


def test_a_part_of_a_longer_address_and_a_key_in_words_are_known() -> None:
    known = KnownAddresses(["See https://api.example.com/v1/orders/list; the order id is 7."])
    assert all(known.has(each) for each in read_addresses("`order_id` of /v1/orders at api.example.com"))
    assert not any(known.has(each) for each in read_addresses("order_key of /v2/orders at pi.example.com"))
