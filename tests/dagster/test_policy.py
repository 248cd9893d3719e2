"""The derivation policy as run configuration of the rollouts step: the policy file's keys, checks and digest."""

import pytest

from sediment_assets.defs.canonical import DerivationConfig
from sediment_assets.derive.policy import DEFAULT_POLICY, PolicyError, parse_policy


def test_no_configuration_is_the_default_policy() -> None:
    assert DerivationConfig().derivation_policy() == DEFAULT_POLICY


def test_tables_mean_what_they_mean_in_a_policy_file() -> None:
    toml = b"schema_version = 1\n[split]\neval_fraction = 0\n[attribution.jaccard]\nmin_similarity = 0.5\n"
    config = DerivationConfig(
        policy={"split": {"eval_fraction": 0}, "attribution": {"jaccard": {"min_similarity": 0.5}}}
    )
    assert config.derivation_policy().digest == parse_policy(toml, place="policy.toml").digest


def test_a_wrong_key_is_refused_by_its_place_in_the_run_configuration() -> None:
    with pytest.raises(PolicyError, match=r"ops\.rollouts\.config\.policy: unknown keys: split\.x"):
        DerivationConfig(policy={"split": {"x": 1}}).derivation_policy()
