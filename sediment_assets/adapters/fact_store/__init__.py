"""The Fact store: the tables of facts.md §10 on SQLite or PostgreSQL, read in snapshots and filled by imports.

``location`` and ``engine`` open it, ``schema`` declares it, ``snapshot`` is the FactReader over it, ``importer`` fills
it from canonical JSONL, ``counts`` sums it up. What the Facts mean is not decided here.
"""
