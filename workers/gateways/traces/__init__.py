"""Read answers from traces: OpenTelemetry and Langfuse."""
