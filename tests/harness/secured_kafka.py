"""A node of Apache Kafka that denies by default, with users who log in by password, token or certificate."""

import base64
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import SecretStr

from tests.harness.kafka_cluster import KafkaCluster, KafkaMissing
from workers.local.ports import LOOPBACK, free_port
from workers.settings import KafkaSettings, Settings

Login = Literal["scram", "plain", "token_file", "token_command", "certificate"]
LOGINS: tuple[Login, ...] = ("scram", "plain", "token_file", "token_command", "certificate")

TOKEN_SECONDS = 4.0
"""Lifetime of the tokens that the command prints."""

SESSION_SECONDS = 3.0
"""Maximum lifetime of a connection that a token has opened; the node then ends it."""

_MODULES = "org.apache.kafka.common.security"
_EXTENSIONS = "subjectAltName=IP:127.0.0.1,DNS:localhost\n"
_COMMAND = """\
import base64, json, time
part = lambda value: base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
now = time.time()
print(part({{"alg": "none"}}) + "." + part({{"sub": "{user}", "iat": now, "exp": now + {seconds}}}) + ".")
open(__file__ + ".calls", "a").write("x")
"""


def unsigned_token(user: str, seconds: float) -> str:
    """Return a JSON Web Token without signature, which a node accepts that is told nothing else."""

    def part(value: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    now = time.time()
    return f"{part({'alg': 'none'})}.{part({'sub': user, 'iat': now, 'exp': now + seconds})}."


@dataclass(slots=True)
class SecuredKafka:
    """One node.

    Attributes:
        cluster: the node.
        folder: certificates, keys, tokens and commands.
        users: address for users with passwords and tokens, by TLS.
        certificates: address for users with certificates.
    """

    cluster: KafkaCluster
    folder: Path
    users: str
    certificates: str

    @classmethod
    async def start(cls, folder: Path, names: Sequence[str]) -> "SecuredKafka":
        """Start a node on which each user has their name as password, and ``admin`` may do everything.

        Raises:
            KafkaMissing: Kafka or openssl is missing.
        """
        if shutil.which("openssl") is None:
            raise KafkaMissing("openssl is not installed")
        make_certificates(folder, names)
        for name in names:
            (folder / f"{name}.token").write_text(unsigned_token(name, 3_600))
            (folder / f"{name}.py").write_text(_COMMAND.format(user=name, seconds=TOKEN_SECONDS))
        ports = {"USERS": free_port(), "CERTIFICATES": free_port()}
        scram = [part for name in names for part in ("--add-scram", f"SCRAM-SHA-512=[name={name},password={name}]")]
        cluster = await KafkaCluster.start(
            folder / "kafka", properties=_properties(folder, names), format_arguments=scram, listeners=ports
        )
        return cls(cluster, folder, *(f"{LOOPBACK}:{port}" for port in ports.values()))

    def address(self, login: Login) -> str:
        """Return the address for a kind of login."""
        return self.certificates if login == "certificate" else self.users

    def of_user(self, settings: Settings, user: str, login: Login = "scram") -> Settings:
        """Return settings with the credentials of a user."""
        values: dict[str, Any] = {
            "security_protocol": "SSL" if login == "certificate" else "SASL_SSL",
            "ssl_cafile": self.folder / "ca.pem",
            "request_timeout_seconds": 10.0,
        }
        if login == "certificate":
            values |= {"ssl_certfile": self.folder / f"{user}.pem", "ssl_keyfile": self.folder / f"{user}.key"}
        elif login == "token_file":
            values |= {"sasl_mechanism": "OAUTHBEARER", "sasl_token_file": self.folder / f"{user}.token"}
        elif login == "token_command":
            command = f"{sys.executable} -I -S {self.folder / user}.py"
            values |= {"sasl_mechanism": "OAUTHBEARER", "sasl_token_command": command}
        else:
            mechanism = "PLAIN" if login == "plain" else "SCRAM-SHA-512"
            values |= {"sasl_mechanism": mechanism, "sasl_username": user, "sasl_password": SecretStr(user)}
        kafka = KafkaSettings.model_validate(settings.kafka.model_dump() | values)
        return settings.model_copy(update={"kafka": kafka})


def make_certificates(folder: Path, names: Sequence[str]) -> None:
    """Write an authority, and a key and a certificate for the node and for each user."""
    folder.mkdir(parents=True, exist_ok=True)

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, check=True)

    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *curve, "-days", "30", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")
    (folder / "extensions").write_text(_EXTENSIONS)
    for name in ("node", *names):
        openssl("req", *curve, "-subj", f"/CN={name}/O=tests", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        openssl(
            "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30",
            "-extfile", "extensions", "-out", f"{name}.pem",
        )  # fmt: skip
    # Kafka reads key and certificate from one file.
    (folder / "keystore.pem").write_text((folder / "node.key").read_text() + (folder / "node.pem").read_text())


def _properties(folder: Path, names: Sequence[str]) -> dict[str, str]:
    users = " ".join(f'user_{name}="{name}"' for name in names)
    return {
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,USERS:SASL_SSL,CERTIFICATES:SSL",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "SCRAM-SHA-512,PLAIN,OAUTHBEARER",
        "listener.name.users.scram-sha-512.sasl.jaas.config": f"{_MODULES}.scram.ScramLoginModule required;",
        "listener.name.users.plain.sasl.jaas.config": f"{_MODULES}.plain.PlainLoginModule required {users};",
        "listener.name.users.oauthbearer.sasl.jaas.config": f"{_MODULES}.oauthbearer.OAuthBearerLoginModule required "
        'unsecuredLoginStringClaim_sub="admin";',
        "listener.name.users.oauthbearer.connections.max.reauth.ms": str(int(SESSION_SECONDS * 1000)),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "keystore.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "ca.pem"),
        "listener.name.certificates.ssl.client.auth": "required",
        "listener.name.certificates.ssl.principal.mapping.rules": "RULE:^.*CN=([^,]+).*$/$1/",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        # The node's own connection to its controller has no user.
        "super.users": "User:admin;User:ANONYMOUS",
        "allow.everyone.if.no.acl.found": "false",
    }
