"""Network policies of Kubernetes as rules of a pod's own firewall, with a counter for each path that they allow."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any

from tests.harness.containers import run

NAMESPACE_LABEL = "kubernetes.io/metadata.name"
_HEAD = """*filter
:INPUT DROP
:FORWARD DROP
:OUTPUT DROP
-A INPUT -i lo -j ACCEPT
-A INPUT -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT
-A INPUT -s {node} -j ACCEPT
-A OUTPUT -o lo -j ACCEPT
-A OUTPUT -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT
"""
# The last packets of a closed connection belong to none; they are dropped, and are no path.
_REFUSED = "-A OUTPUT {to}-m conntrack --ctstate NEW -m comment --comment refused{name} -j REJECT\n"
_COUNTED = re.compile(r'^\[(\d+):\d+\] -A (\w+) .*--comment "?([^" ]+)"? -j')


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server or a client beside the pods.

    Attributes:
        name: of the endpoint.
        address: its IP address.
        namespace: namespace that it stands for.
        labels: labels of its pod.
    """

    name: str
    address: str
    namespace: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AllowedPath:
    """A connection that policies allow: to an endpoint (OUTPUT) or from it (INPUT)."""

    chain: str
    endpoint: Endpoint
    protocol: str
    port: int

    @property
    def name(self) -> str:
        return f"{self.endpoint.name}:{self.port}"

    @property
    def rule(self) -> str:
        side = "-d" if self.chain == "OUTPUT" else "-s"
        return (
            f"-A {self.chain} {side} {self.endpoint.address} -p {self.protocol} --dport {self.port}"
            f" -m comment --comment {self.name} -j ACCEPT\n"
        )


def allowed_paths(
    policies: Iterable[Mapping[str, Any]], namespace: str, labels: Mapping[str, str], endpoints: Sequence[Endpoint]
) -> list[AllowedPath]:
    """Return the paths between a pod with these labels and the endpoints; policies add up."""
    found = []
    for policy in policies:
        spec = policy["spec"]
        if not _selects(spec["podSelector"], labels):
            continue
        for chain, rules, side in (("OUTPUT", "egress", "to"), ("INPUT", "ingress", "from")):
            for rule in spec.get(rules, []):
                for endpoint in endpoints:
                    if any(_is_peer(peer, namespace, endpoint) for peer in rule[side]):
                        found += [
                            AllowedPath(chain, endpoint, each["protocol"].lower(), each["port"])
                            for each in rule["ports"]
                        ]
    return found


def enforce(pid: int, paths: Iterable[AllowedPath], node: str, endpoints: Iterable[Endpoint]) -> None:
    """Let the network of this process use these paths, and answer the node, whose kubelet sends probes."""
    rules = _HEAD.format(node=node) + "".join(path.rule for path in paths)
    rules += "".join(_REFUSED.format(to=f"-d {each.address} ", name=f":{each.name}") for each in endpoints)
    rules += _REFUSED.format(to="", name="") + "COMMIT\n"
    done = run("nsenter", f"--net=/proc/{pid}/ns/net", "iptables-restore", text=rules)
    assert done.returncode == 0, done.stderr


def used_paths(pid: int) -> dict[str, set[str]]:
    """Return the names of the paths that were used, by chain; `refused:server` for one that no policy allows."""
    done = run("nsenter", f"--net=/proc/{pid}/ns/net", "iptables-save", "--counters")
    assert done.returncode == 0, done.stderr
    found: dict[str, set[str]] = {"INPUT": set(), "OUTPUT": set()}
    for line in done.stdout.splitlines():
        counted = _COUNTED.match(line)
        if counted and counted[1] != "0":
            found[counted[2]].add(counted[3])
    return found


def _selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Tell whether a label selector fits; these manifests use equality and the operator In."""
    for expression in selector.get("matchExpressions", []):
        assert expression["operator"] == "In", expression
        if labels.get(expression["key"]) not in expression["values"]:
            return False
    return all(labels.get(name) == value for name, value in selector.get("matchLabels", {}).items())


def _is_peer(peer: Mapping[str, Any], namespace: str, endpoint: Endpoint) -> bool:
    if "ipBlock" in peer:
        address, block = ip_address(endpoint.address), peer["ipBlock"]
        return address in ip_network(block["cidr"]) and not any(
            address in ip_network(part) for part in block.get("except", [])
        )
    if "namespaceSelector" in peer:
        if not _selects(peer["namespaceSelector"], {NAMESPACE_LABEL: endpoint.namespace}):
            return False
    elif endpoint.namespace != namespace:
        return False
    return _selects(peer.get("podSelector", {}), endpoint.labels)
