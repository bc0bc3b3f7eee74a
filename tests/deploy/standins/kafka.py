"""Start a node of Apache Kafka with the variables of the published image."""

import os
from pathlib import Path

JAVA = ["java", "-cp", "/opt/kafka/libs/*"]
NOT_PROPERTIES = {"KAFKA_HEAP_OPTS"}

properties = {
    name.removeprefix("KAFKA_").lower().replace("_", "."): value
    for name, value in os.environ.items()
    if name.startswith("KAFKA_") and name not in NOT_PROPERTIES
}
configuration = Path("/tmp/server.properties")
configuration.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
data = Path(properties["log.dirs"])
if not (data / "meta.properties").exists():
    cluster = os.environ["CLUSTER_ID"]
    tool = [*JAVA, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(configuration)]
    if os.spawnvp(os.P_WAIT, tool[0], tool) != 0:
        raise SystemExit("the folder of the data cannot be formatted")
heap = os.environ.get("KAFKA_HEAP_OPTS", "").split()
os.execvp("java", ["java", *heap, *JAVA[1:], "kafka.Kafka", str(configuration)])
