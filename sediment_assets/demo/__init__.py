"""Deterministic demo evidence: Facts and mirrors of two made-up repositories over one week."""
