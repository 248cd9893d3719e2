"""The CI resolution policy and its digest (derivation.md §1.3)."""

import pytest

from sediment_assets.ci.policy import CI_POLICY, CIPolicyError, CIResolutionPolicy


def test_policy_digest():
    assert CI_POLICY.digest == "c3e845fa8d55cf0a7c5a0b4ad2f39c1dbfe1d237776fc825343cd6eb771035f9"


def test_every_field_enters_the_digest():
    variants = [
        CIResolutionPolicy(clean_reliability=0.5),
        CIResolutionPolicy(suspected_flake_reliability=0.5),
        CIResolutionPolicy(non_verdict_reliability=0.5),
        CIResolutionPolicy(policy_version="3"),
    ]
    assert len({policy.digest for policy in [CI_POLICY, *variants]}) == 5


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf"), True, "1", None])
@pytest.mark.parametrize("name", ["clean_reliability", "suspected_flake_reliability", "non_verdict_reliability"])
def test_reliabilities_are_numbers_from_0_to_1(name, value):
    with pytest.raises(CIPolicyError, match=f"{name}: expected a number from 0 to 1"):
        CIResolutionPolicy(**{name: value})


def test_policy_version_is_not_blank():
    with pytest.raises(CIPolicyError, match="policy_version"):
        CIResolutionPolicy(policy_version=" \x1f")
