"""Captured coding-agent evidence to RLVR training data: a pure core, its command line and its Dagster graph.

Folders are steps, in the order in which data flows: ``facts``, ``repositories``, ``mirrors``, ``derive``, ``ci``,
``rollouts``, ``bundle``, ``targets``, ``publish``. ``adapters`` is the outside world (databases, git, files);
``cli`` and ``defs`` are the two doors.
"""

__version__ = "0.1.0"
