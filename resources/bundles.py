"""Resource: derived bundles that the steps of a run read, each copied and validated once per process.

A bundle is never trusted for having been written by this project: ``open_bundle`` copies it into private storage and
validates all of it. The steps of one run share that copy, so four readers cost one validation. When the step that wrote
the bundle belongs to the same run and process, that is the validation it did itself: the copy is compared with it by
digests, file by file.
"""

from contextlib import ExitStack
from pathlib import Path

import dagster as dg
from pydantic import PrivateAttr

from sediment_assets.adapters.bundle_dir import Bundle, open_bundle
from sediment_assets.adapters.bundle_validations import Validations


class BundleReader(dg.ConfigurableResource):  # type: ignore[type-arg]  # generic over its own value, as Dagster documents
    """Opens bundles and keeps them open until the run, or a step in a process of its own, has ended."""

    _opened: ExitStack = PrivateAttr(default_factory=ExitStack)
    _bundles: dict[Path, Bundle] = PrivateAttr(default_factory=dict)
    _validations: Validations = PrivateAttr(default_factory=Validations)

    def read(self, directory: Path) -> Bundle:
        """Return the validated bundle of a generation, which never changes once it is complete.

        :raises BundleError: naming the first broken rule.
        """
        if directory not in self._bundles:
            self._bundles[directory] = self._opened.enter_context(open_bundle(directory, validations=self._validations))
        return self._bundles[directory]

    def validations(self) -> Validations:
        """Return where the step that writes a bundle leaves what it found out about it."""
        return self._validations

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Remove the private copies."""
        self._bundles.clear()
        self._opened.close()
        self._validations.close()
