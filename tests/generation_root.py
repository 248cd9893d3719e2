"""An export root in tests: generations of rows and bundles, complete or not, in a known order."""

import os
from pathlib import Path

from sediment_assets.adapters.generations.catalog import ROLLOUTS_KIND
from sediment_assets.bundle.encoding import MANIFEST
from sediment_assets.publish.artifacts import RECORD
from sediment_assets.publish.export import export_rlvr
from sediment_assets.targets.registry import Target
from tests.rollout_builders import make_resolver, make_rollout
from tests.rollout_source import MemorySource

DAY = "2026-11-02"


class Root:
    """``<root>/<kind>/<day>/<name>``; each generation's completion file is younger than the one made before it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._made = 1_700_000_000

    def place(self, kind: str, name: str, day: str = DAY) -> Path:
        path = self.path / kind / day / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def rows(self, name: str, *, target: Target = Target.NEMO_GYM, day: str = DAY, bundle: str | None = None) -> Path:
        """A complete generation of one row."""
        out = self.place(target.value, name, day)
        rollout = make_rollout()
        source = MemorySource([rollout], make_resolver(rollouts=[rollout]), bundle_digest=bundle)
        export_rlvr(source, None, out, target=target, partition=day)
        return self._dated(out, RECORD)

    def bundle(self, name: str, like: Path, day: str = DAY) -> Path:
        """A copy of a bundle, as the generation of a day."""
        out = self.place(ROLLOUTS_KIND, name, day)
        out.mkdir()
        for file in like.iterdir():
            (out / file.name).write_bytes(file.read_bytes())
        return self._dated(out, MANIFEST)

    def _dated(self, out: Path, marker: str) -> Path:
        self._made += 60
        os.utime(out / marker, (self._made, self._made))
        return out
