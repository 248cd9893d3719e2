"""Dagster resources and IO managers: each a thin wrapper over an adapter."""
