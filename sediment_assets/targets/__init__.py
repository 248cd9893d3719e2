"""Targets: pure projections, Rollout to training row or counted skip (contract chapter: targets)."""
