"""CI outcomes in the notation of derivation.md §11: ``r1:2 failed`` is attempt 2 of CI run r1."""

from sediment_assets.ci.resolution import CIResolutions, resolve_outcomes
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.repositories.evidence import project_evidence
from sediment_assets.repositories.resolver import RepositoryResolver
from tests.builders import ORG, make_outcome


def outcome(spelled: str, **values: object) -> CIOutcome:
    """Read ``run[:attempt] result``; the outcome's id is ``run:attempt`` unless given."""
    run, result = spelled.split()
    run_id, _, attempt = run.partition(":")
    defaults: dict[str, object] = {
        "outcome_id": run,
        "run_id": run_id,
        "run_attempt": int(attempt) if attempt else None,
        "result": result,
    }
    return make_outcome(**(defaults | values))


def resolve(outcomes: list[CIOutcome], revision: int = 0) -> CIResolutions:
    """Resolve outcomes whose evidence is the whole repository population."""
    resolver = RepositoryResolver.build(ORG, map(project_evidence, outcomes), ())
    return resolve_outcomes(outcomes, resolver, revision)
