"""The one base of every error this project reports to a person.

Subclasses live beside the code that raises them, one per boundary (settings, policy, Fact store, mirror, bundle, claim …).
"""


class SedimentError(Exception):
    """An expected failure. Its text is one line: place, expected, got, and the way out; never a credential."""
