"""Identifiers of clusters."""

import base64

from workers.local.apache_kafka import new_cluster_id


def test_an_identifier_is_no_option_of_the_tools_of_kafka() -> None:
    identifiers = {new_cluster_id() for _ in range(1_000)}
    assert len(identifiers) == 1_000
    assert [each for each in identifiers if each.startswith("-")] == []
    assert {len(base64.urlsafe_b64decode(f"{each}==")) for each in identifiers} == {16}
