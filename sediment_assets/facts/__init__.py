"""Facts: what was captured. Models, scalar types, exact JSON, redaction (contract chapter: facts)."""
