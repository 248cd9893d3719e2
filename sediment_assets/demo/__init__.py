"""Deterministic demo evidence: Facts and mirrors of made-up repositories over one week.

``plant_evidence`` writes it; ``cases.py`` lists what each Session is there to show, and so does docs/demo.md.
"""

from sediment_assets.demo.plant import DemoEvidence, PlantingError, is_begun, plant_evidence

__all__ = ["DemoEvidence", "PlantingError", "is_begun", "plant_evidence"]
