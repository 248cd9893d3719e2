"""OpenTelemetry logs of coding agents: OTLP/JSON values and log records, and what events say of decisions.

Contract: facts.md §3.2.
"""
