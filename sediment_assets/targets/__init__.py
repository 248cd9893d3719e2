"""Targets: pure projections from a Rollout to a training row or a counted skip (contract chapter: targets)."""
