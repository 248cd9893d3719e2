"""CI systems other than GitHub Actions: a module each, from webhook and REST payloads to CIOutcome (facts.md §4.1).

Each module says which payloads are its own (``reads``), reads one (``read``), and lists what its words mean.
"""
