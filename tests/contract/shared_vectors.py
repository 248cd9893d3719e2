"""Where the shared vectors are, and their own runner, ``run.py``: beside this repository, or in ``SHARED_VECTORS``."""

import importlib.util
import os
from pathlib import Path
from types import ModuleType

REPOSITORY = Path(__file__).parents[2]
VECTORS = Path(os.environ.get("SHARED_VECTORS", REPOSITORY.parent / "shared" / "vectors"))
ABSENT = f"the shared vectors are not at {VECTORS}; SHARED_VECTORS may name another folder"


def vector_names() -> list[str]:
    """Names of all vectors; none without the folder."""
    return sorted(path.parent.name for path in VECTORS.glob("*/scenario.json"))


def load_runner() -> ModuleType:
    """Import ``run.py``, which is no module of this repository."""
    spec = importlib.util.spec_from_file_location("shared_vectors_run", VECTORS / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
