"""Build the connection arguments of every Kafka client."""

import ssl
from typing import Any

from workers.delivery.access_tokens import access_tokens
from workers.delivery.consumption import throttling
from workers.errors import TouchstoneError
from workers.settings import KafkaSettings

METADATA_SECONDS = 30.0
"""Maximum age of what a client knows of topics, in seconds: added partitions and topics made again are found then."""


class TlsFilesUnreadable(TouchstoneError):
    """Report that a certificate or key for the broker cannot be read; the message names the files."""


def connection_arguments(kafka: KafkaSettings, bootstrap_servers: str) -> dict[str, Any]:
    """Return the connection arguments of aiokafka clients. Also install the connection of `throttling` for the process.

    Args:
        kafka: security settings.
        bootstrap_servers: host:port, comma separated.

    Raises:
        TlsFilesUnreadable: a certificate or key file is missing or holds something else.
    """
    throttling.install()
    arguments: dict[str, Any] = {
        "bootstrap_servers": bootstrap_servers,
        "client_id": "touchstone",
        "security_protocol": kafka.security_protocol,
    }
    if kafka.security_protocol in ("SSL", "SASL_SSL"):
        arguments["ssl_context"] = ssl_context(kafka)
    if not kafka.security_protocol.startswith("SASL"):
        return arguments
    arguments["sasl_mechanism"] = kafka.sasl_mechanism
    if kafka.sasl_mechanism == "OAUTHBEARER":
        arguments["sasl_oauth_token_provider"] = access_tokens(kafka)
    else:
        arguments |= {
            "sasl_plain_username": kafka.sasl_username,
            "sasl_plain_password": kafka.sasl_password.get_secret_value() if kafka.sasl_password else None,
        }
    return arguments


def ssl_context(kafka: KafkaSettings) -> ssl.SSLContext:
    """Return a context that verifies the broker against the configured authority or the system's.

    It shows the client certificate of the settings, if there is one.

    Raises:
        TlsFilesUnreadable: a file is missing or holds something else.
    """
    password = kafka.ssl_key_password
    files = [file for file in (kafka.ssl_cafile, kafka.ssl_certfile, kafka.ssl_keyfile) if file is not None]
    try:
        context = ssl.create_default_context(cafile=str(kafka.ssl_cafile) if kafka.ssl_cafile else None)
        if kafka.ssl_certfile is not None:
            # Without a function OpenSSL would ask for the password of an encrypted key at the terminal.
            context.load_cert_chain(
                kafka.ssl_certfile, kafka.ssl_keyfile, lambda: password.get_secret_value() if password else ""
            )
    except OSError as error:  # ssl.SSLError is one
        raise TlsFilesUnreadable(
            f"cannot load the TLS files {', '.join(map(str, files))}: {error.strerror or type(error).__name__}; correct "
            "kafka.ssl_cafile, kafka.ssl_certfile, kafka.ssl_keyfile or kafka.ssl_key_password"
        ) from error
    return context
