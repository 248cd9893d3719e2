"""Derived bundle version 4: encoding, manifest, shapes, validation (contract chapter: bundle)."""
