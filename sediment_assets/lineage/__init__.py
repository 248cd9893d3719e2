"""Lineage: where a row comes from, why there is none, what changed between generations. Pure; no second rules."""
