"""OpenTelemetry logs of coding agents: OTLP/JSON log records, and what events say of decisions (facts.md §3.2)."""
