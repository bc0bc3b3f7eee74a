"""Examine a deployment before a worker starts: settings, servers, topics, schema, rights, clocks and versions."""
