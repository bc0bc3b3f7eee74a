"""A Kubernetes API server for tests: it validates, defaults, admits and stores as a cluster does, and runs nothing."""

import json
import os
import shutil
import ssl
import subprocess
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.harness.paths import ROOT
from workers.local.child import die_with
from workers.local.ports import LOOPBACK, free_port

ARCHIVE = ROOT.parent / "shared" / "kubernetes" / "kube.tar.xz"
"""kube-apiserver, etcd and kubectl, beside the checkout."""

PROGRAMS = ROOT / ".pytest_cache" / "kubernetes"
"""Folder of the unpacked programs, which later runs use again."""

START_SECONDS = 240.0

TOKEN = "token-of-the-tests"


class KubernetesMissing(Exception):
    """The programs are missing; the text says which."""


def programs() -> Path:
    """Return the folder of the programs, unpacked once.

    Raises:
        KubernetesMissing: the archive or openssl is not there.
    """
    if not ARCHIVE.is_file():
        raise KubernetesMissing(f"there is no {ARCHIVE}")
    if shutil.which("openssl") is None:
        raise KubernetesMissing("openssl is not installed")
    folder = PROGRAMS / str(ARCHIVE.stat().st_mtime_ns)
    if not folder.is_dir():
        draft = PROGRAMS / f"draft-{os.getpid()}"
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(draft, filter="data")
        if not folder.is_dir():
            draft.rename(folder)
    return folder


def kubectl(
    *arguments: str | Path, text: str | None = None, folder: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run kubectl, and return what it printed.

    Raises:
        KubernetesMissing: it is not there.
    """
    return subprocess.run(
        [programs() / "kubectl", *arguments],
        input=text, capture_output=True, text=True, timeout=300, check=False, cwd=folder,
    )  # fmt: skip


class KubernetesApi:
    """Run an API server with its etcd, until the context ends.

    Args:
        directory: for data, certificates and logs.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._programs = programs()
        self._port = free_port()
        self._opened = ExitStack()

    def __enter__(self) -> "KubernetesApi":
        try:
            self._start()
        except BaseException:
            self._opened.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def kubectl(self, *arguments: str | Path, text: str | None = None) -> "subprocess.CompletedProcess[str]":
        """Run kubectl against the server, and return what it printed."""
        return kubectl("--kubeconfig", self._kubeconfig, *arguments, text=text)

    def objects(self, kind: str, namespace: str) -> dict[str, dict[str, Any]]:
        """Return the stored objects of a kind by name."""
        found = self.kubectl("get", kind, "--namespace", namespace, "--output", "json")
        assert found.returncode == 0, found.stderr
        return {each["metadata"]["name"]: each for each in json.loads(found.stdout)["items"]}

    @property
    def _kubeconfig(self) -> Path:
        return self._directory / "kubeconfig"

    def _start(self) -> None:
        key, public = self._directory / "sa.key", self._directory / "sa.pub"
        for command in (["genrsa", "-out", key, "2048"], ["rsa", "-in", key, "-pubout", "-out", public]):
            subprocess.run(["openssl", *command], capture_output=True, check=True)
        (self._directory / "tokens.csv").write_text(f'{TOKEN},admin,1,"system:masters"\n')
        self._kubeconfig.write_text(json.dumps(self._client_configuration()))
        clients, peers = (f"http://{LOOPBACK}:{free_port()}" for _ in range(2))
        self._run([
            "etcd", "--data-dir", self._directory / "etcd", "--unsafe-no-fsync", "--listen-client-urls", clients,
            "--advertise-client-urls", clients, "--listen-peer-urls", peers,
        ])  # fmt: skip
        server = self._run([
            "kube-apiserver", f"--etcd-servers={clients}", f"--cert-dir={self._directory / 'certs'}",
            f"--bind-address={LOOPBACK}", f"--secure-port={self._port}", "--service-account-issuer=https://local",
            f"--service-account-signing-key-file={key}", f"--service-account-key-file={public}",
            "--service-cluster-ip-range=10.0.0.0/24", f"--token-auth-file={self._directory / 'tokens.csv'}",
            "--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount",
        ])  # fmt: skip
        self._wait_ready(server)

    def _run(self, command: Sequence[str | Path]) -> "subprocess.Popen[bytes]":
        log = self._opened.enter_context((self._directory / f"{command[0]}.log").open("wb"))
        process = subprocess.Popen(
            [self._programs / command[0], *command[1:]],
            stdout=log, stderr=subprocess.STDOUT, cwd=self._directory, preexec_fn=die_with(os.getpid()),
        )  # fmt: skip
        self._opened.callback(process.wait)
        self._opened.callback(process.kill)
        return process

    def _wait_ready(self, server: "subprocess.Popen[bytes]") -> None:
        context = ssl._create_unverified_context()
        address = f"https://{LOOPBACK}:{self._port}/readyz"
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {TOKEN}"})
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                with urllib.request.urlopen(request, context=context, timeout=5) as response:
                    if response.read() == b"ok":
                        return
            except (urllib.error.URLError, OSError):
                pass
            log = (self._directory / "kube-apiserver.log").read_text(errors="replace")
            assert server.poll() is None, log[-4_000:]
            assert time.monotonic() < until, f"the API server is not ready: {log[-4_000:]}"
            time.sleep(0.1)

    def _client_configuration(self) -> dict[str, Any]:
        cluster = {"server": f"https://{LOOPBACK}:{self._port}", "insecure-skip-tls-verify": True}
        return {
            "apiVersion": "v1", "kind": "Config", "current-context": "tests",
            "clusters": [{"name": "tests", "cluster": cluster}],
            "users": [{"name": "tests", "user": {"token": TOKEN}}],
            "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "tests"}}],
        }  # fmt: skip
