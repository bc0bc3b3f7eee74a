"""Grafana's dashboards, generated: what they show stands in dashboards.py, never in a mouse click."""
