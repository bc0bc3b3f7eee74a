"""Serve ClickHouse's HTTP interface on loopback, with chDB as the engine."""
