"""Every row of a bundle, in the order in which the rules need one another (bundle.md §8, rules 5 to 29)."""

from sediment_assets.bundle.completion_record import parse_completion
from sediment_assets.bundle.encoding import Population
from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.manifest import Manifest
from sediment_assets.bundle.validate.artifact_rows import ArtifactRules
from sediment_assets.bundle.validate.completions import CompletionRules
from sediment_assets.bundle.validate.files import Lines, parse_rows
from sediment_assets.bundle.validate.index import Group, RowIndex
from sediment_assets.bundle.validate.populations import PopulationRules
from sediment_assets.bundle.validate.rollouts import RolloutRules
from sediment_assets.repositories.resolver import RepositoryResolver


def validate_rows(manifest: Manifest, lines: Lines, index: RowIndex) -> RepositoryResolver:
    """Check every row of a bundle whose manifest and files are known to agree.

    Afterwards ``index`` holds the lines of every Session's Rollouts. Returns the resolver that the bundle's repository
    populations make.

    :raises BundleError: for the first broken rule, with file, line and path.
    """
    populations = PopulationRules(manifest, index)
    resolver = populations.resolver(lines)
    populations.identities(lines)
    populations.calls(lines)
    rules = ArtifactRules(manifest, resolver, index)
    _check_rollouts(RolloutRules(rules), lines, index)
    _check_completions(CompletionRules(rules), lines)
    populations.references()
    try:
        rules.require_agreeing_runs()
    except BundleError as error:
        raise error.at(Population.ROLLOUTS.file) from None
    return resolver


def _check_rollouts(rules: RolloutRules, lines: Lines, index: RowIndex) -> None:
    population = Population.ROLLOUTS
    for number, line in enumerate(lines(population), 1):
        try:
            rollout = rules.check(line)
        except BundleError as error:
            raise error.at(population.file, number) from None
        index.gather(Group.ROLLOUT_LINE, rollout.session_id, str(number))


def _check_completions(rules: CompletionRules, lines: Lines) -> None:
    population = Population.ATTRIBUTED_COMPLETIONS
    for check in (rules.check, rules.check_decisions):
        for number, row in parse_rows(population, lines(population), parse_completion):
            try:
                check(row)
            except BundleError as error:
                raise error.at(population.file, number) from None
