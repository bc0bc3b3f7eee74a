"""Generate Grafana's dashboards from dashboards.py; no dashboard is edited by hand."""
