"""Policy, provenance, split and attribution: which commits belong to a Session (contract chapter: derivation)."""
