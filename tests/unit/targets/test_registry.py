"""The target registry (targets.md, introduction and §6.7)."""

import pytest

from sediment_assets.targets.registry import TARGETS, Population, Target, UnknownTargetError, parse_target


def fields_with_schema(row_model):
    """The fields of the model that carries schema_id: the row itself or its metadata."""
    fields = row_model.model_fields
    return fields if "schema_id" in fields else fields["metadata"].annotation.model_fields


@pytest.mark.parametrize(
    ("target", "populations", "needs_mirrors", "manifest"),
    [
        ("sediment", ["tasks", "rollouts"], True, True),
        ("swe-bench", ["tasks"], True, False),
        ("nemo-gym", ["rollouts"], False, False),
    ],
)
def test_what_each_target_writes_and_needs(target, populations, needs_mirrors, manifest):
    spec = TARGETS[parse_target(target)]
    assert [own.population for own in spec.populations] == populations
    assert (spec.needs_mirrors, spec.writes_environment_manifest) == (needs_mirrors, manifest)


@pytest.mark.parametrize(
    ("target", "population", "slug", "version"),
    [
        (Target.SEDIMENT, Population.TASKS, "sediment-rlvr-task", 3),
        (Target.SEDIMENT, Population.ROLLOUTS, "sediment-rlvr-rollout", 4),
        (Target.SWE_BENCH, Population.TASKS, "swe-bench-task", 3),
        (Target.NEMO_GYM, Population.ROLLOUTS, "nemo-gym-rollout", 4),
    ],
)
def test_schema_identity_of_registry_and_rows_agree(target, population, slug, version):
    spec = TARGETS[target].population(population)
    schema_id = f"https://sediment.so/schemas/training-rows/{slug}/v{version}.json"
    fields = fields_with_schema(spec.row_model)
    assert spec.schema_id == schema_id == fields["schema_id"].default
    assert spec.schema_version == version == fields["schema_version"].default


def test_every_target_is_registered_in_declaration_order():
    assert list(TARGETS) == list(Target)


def test_a_population_that_a_target_does_not_produce_is_none():
    assert TARGETS[Target.NEMO_GYM].population(Population.TASKS) is None


@pytest.mark.parametrize("name", ["", "Sediment", "swe_bench", "nemo-gym "])
def test_any_other_name_is_no_target(name):
    with pytest.raises(UnknownTargetError, match="expected one of sediment, swe-bench, nemo-gym, got"):
        parse_target(name)
