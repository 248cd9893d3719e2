"""The derived bundle, version 4: its records, its manifest, its rules (contract chapter: bundle).

Pure: text and plain values in, records and errors out. The directory, its publication and the private copy that a
reader validates are ``adapters/bundle_dir.py``.
"""
