"""The rights that are printed for a broker suffice for each command."""

from workers.delivery.topics.access_rights import ALL_OF_TOPICS, access_rights
from workers.settings import Settings


def test_the_operator_may_requeue_to_the_topics_of_gateways() -> None:
    """A dead letter of the intake goes back to the topic of its gateway, which is none of the registry."""
    settings = Settings(_env_file=None, gateways={"topics": {"chat.logs": {"format": "litellm"}}})  # type: ignore[arg-type]
    users = {name: name for name in ("worker", "console", "gateway", "operator")}
    rights = [each for each in access_rights(settings, (), **users) if each.principal == "operator"]
    assert {"Create", "Describe", "Write"} == {
        operation for right in rights if "chat.logs" in right.names for operation in right.operations
    }
    without = access_rights(Settings(_env_file=None), (), **users)
    of_topics = [right for right in without if right.principal == "operator" and right.resource == "topic"]
    assert [right.operations for right in of_topics] == [ALL_OF_TOPICS]
