"""Dagster definitions: assets, checks, partitions, jobs and schedules over the core."""
