"""The outside world without Dagster: databases, git, settings, files."""
