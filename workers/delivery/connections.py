"""Build the connection arguments of every Kafka client."""

import ssl
from typing import Any

from workers.settings import KafkaSettings


def connection_arguments(kafka: KafkaSettings, bootstrap_servers: str) -> dict[str, Any]:
    """Return the keyword arguments for aiokafka's producer, consumer and admin client.

    Args:
        kafka: security settings.
        bootstrap_servers: host:port, comma separated.
    """
    arguments: dict[str, Any] = {
        "bootstrap_servers": bootstrap_servers,
        "client_id": "touchstone",
        "security_protocol": kafka.security_protocol,
    }
    if kafka.security_protocol in ("SSL", "SASL_SSL"):
        arguments["ssl_context"] = ssl_context(kafka)
    if kafka.security_protocol.startswith("SASL"):
        arguments |= {
            "sasl_mechanism": kafka.sasl_mechanism,
            "sasl_plain_username": kafka.sasl_username,
            "sasl_plain_password": kafka.sasl_password.get_secret_value() if kafka.sasl_password else None,
        }
    return arguments


def ssl_context(kafka: KafkaSettings) -> ssl.SSLContext:
    """Return a context that verifies the broker against the configured authority or the system's."""
    return ssl.create_default_context(cafile=str(kafka.ssl_cafile) if kafka.ssl_cafile else None)
