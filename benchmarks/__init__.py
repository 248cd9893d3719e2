"""Benchmarks: evidence of three sizes (``evidence.py``), and how fast everything is over it (``run.py``)."""
