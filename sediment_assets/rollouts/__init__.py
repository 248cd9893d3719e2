"""Canonical Rollouts: Segments, Turns, decisions, commits, and the whole derivation (derivation §4, §5, §10)."""
