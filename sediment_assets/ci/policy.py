"""The CI resolution policy: how far a verdict is to be believed (derivation.md §1.3).

Every derivation and export uses ``CI_POLICY``; no file and no setting changes it.
"""

from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256

from sediment_assets.errors import SedimentError
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import encode_canonical
from sediment_assets.facts.text import strip

CI_RESOLUTION_VERSION = "2"
"""Version of the CI resolution rules, ``policy_version`` of every CI resolution (derivation.md §1)."""


class CIPolicyError(SedimentError):
    """A CI resolution policy with a value out of range."""


@dataclass(frozen=True)
class CIResolutionPolicy:
    """Reliabilities, numbers from 0 to 1, that a CI run's evidence earns (derivation.md §11)."""

    clean_reliability: float = 1.0
    """Of a verdict that no other attempt of its CI run contradicts."""
    suspected_flake_reliability: float = 0.0
    """Of a verdict when the CI run both passed and failed."""
    non_verdict_reliability: float = 1.0
    """Upper bound when the CI run has a result that is neither passed nor failed."""
    policy_version: str = CI_RESOLUTION_VERSION

    def __post_init__(self) -> None:
        for name in ("clean_reliability", "suspected_flake_reliability", "non_verdict_reliability"):
            value = getattr(self, name)
            # type(), not isinstance(): a bool is an int. NaN fails the comparison.
            if type(value) not in (int, float) or not 0 <= value <= 1:
                raise CIPolicyError(f"CI policy: {name}: expected a number from 0 to 1, got {shown(value)}")
        if not strip(self.policy_version):
            raise CIPolicyError("CI policy: policy_version: expected a non-blank string")

    @cached_property
    def digest(self) -> str:
        """Lower-case hex SHA-256 of the policy's canonical JSON."""
        return sha256(encode_canonical(asdict(self)).encode()).hexdigest()


CI_POLICY = CIResolutionPolicy()
"""The one policy in use."""
