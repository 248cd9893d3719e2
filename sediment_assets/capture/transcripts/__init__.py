"""Session transcripts and trajectories that coding agents write themselves, as InferenceCalls with growing histories.

One module per format; ``shapes.py`` tells them apart by what a record looks like, ``calls.py`` is what all of them
share: how a response becomes a Fact, in which order, under which id. Door: ``capture/sources/transcripts.py``.
"""
