"""Capture: what a team's own tools wrote down, translated into Facts (facts.md §3–4).

Pure: a source gets parsed records and gives Facts, and what it could not translate under a closed reason. Files are
opened by ``adapters/capture_files.py``; storing is the import's (``adapters/fact_store``).
"""
