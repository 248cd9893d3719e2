"""What the rows of several targets share: nested objects and fields with one meaning (targets.md §6.1, §6.6).

A row model is the only definition of its row: declaration order is key order, descriptions are the reference
page, the JSON Schema file is generated from it. A nullable field has no default, so its key is always there.
``MISSING`` is the contract's ``[omit]``: the key is left out. How values come about is for the projections.
"""

from typing import Annotated, Literal

from pydantic import MISSING, Field

from sediment_assets.ci.resolution import CIResolution
from sediment_assets.ci.selection import RewardSource
from sediment_assets.derive.provenance import Provenance
from sediment_assets.derive.split import Split
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.messages import Part, ToolCallPart
from sediment_assets.facts.model import FrozenModel
from sediment_assets.facts.vocabulary import AgentHarness, InteractionMode
from sediment_assets.repositories.keys import RepositoryIdentity
from sediment_assets.rollouts.models import AttributionSource


class RowModel(FrozenModel, extra="forbid"):
    """Base of all row models: immutable, no keys beyond the declared ones, and a name for its JSON Schema."""


class Verification(RowModel):
    """How the operator says this repository is verified."""

    verification_command: str = Field(
        description="Command from the operator's commands file, trimmed. Never inferred, never run."
    )


class MessageRow(RowModel):
    """One captured message, as the model saw or wrote it."""

    role: str = Field(description="Captured role, open vocabulary; may be empty.")
    parts: tuple[Part, ...] = Field(description="Captured parts in order; may be empty.")
    finish_reason: str | MISSING = Field(
        default=MISSING, description="Why the model stopped, as captured. Omitted when not captured."
    )


class DecisionRow(RowModel):
    """One developer decision about an edit of its Turn, reduced to what training uses."""

    accepted: bool = Field(description="Whether the developer kept the edit.")
    explicit: bool = Field(description="Whether the developer acted, as opposed to a default of the harness.")
    agent_harness: AgentHarness = Field(description="The coding agent in which the decision was made.")
    interaction_mode: InteractionMode = Field(description="How the edit was offered.")
    file_path: str = Field(description="File of the edit as the harness named it; empty when it named none.")


class TurnRow(RowModel):
    """One model call of the Session."""

    inference_call_id: str = Field(description="Id of the InferenceCall Fact.")
    new_messages: tuple[MessageRow, ...] = Field(
        description=(
            "At a Segment's first Turn the complete input; later what followed the previous Turn's input, "
            "its echoed output included."
        )
    )
    completion: str = Field(
        description="Output text and string leaves of its tool arguments, joined by line feeds; may be empty."
    )
    tool_calls: tuple[ToolCallPart, ...] = Field(description="Tool calls of the output, in order.")
    decisions: tuple[DecisionRow, ...] = Field(
        description="Developer decisions about this call's edits, by (occurred_at, decision_id)."
    )


TaskInstanceId = Annotated[
    str,
    Field(description="`<org_id>-<session_id>-<7 hex digits>`, from the Session's first commit in the mirror."),
]
SegmentInstanceId = Annotated[str, Field(description="`<org_id>-<session_id>-seg<segment_index>`.")]
RecipeId = Annotated[Literal["rlvr_ci"], Field(description="The recipe: reward from resolved CI.")]
RecipeVersion = Annotated[Literal[1], Field(description="Version of the recipe.")]
TaskRewardSource = Annotated[
    RewardSource,
    Field(description="`resolved_ci_pass` or `resolved_ci_fail`: the verdict of `ci_resolution`."),
]
OptionalRewardSource = Annotated[
    RewardSource | MISSING,
    Field(description="The verdict of `ci_resolution`. Omitted when no commit of the Session has a verdict."),
]
Repo = Annotated[
    str,
    Field(
        description=(
            "Label `owner/name` of the verified commit's repository; after a rename the smallest name ever "
            "seen, which may be an old one."
        )
    ),
]
BaseCommit = Annotated[
    str, Field(description="First parent of the Session's first commit in the mirror: where the task starts.")
]
ProblemStatement = Annotated[
    str,
    Field(
        description=(
            "First captured user message: text parts verbatim, any other part as "
            "`[non-text content omitted]`, joined by line feeds; empty when there is none."
        )
    ),
]
ReferencePatchText = Annotated[
    str,
    Field(
        description=(
            "Git patch from the base commit to the verified commit; applies exactly with `git apply`. "
            "Empty when the two trees are equal."
        )
    ),
]
OptionalVerification = Annotated[
    Verification | MISSING,
    Field(description="The operator's command for this repository. Omitted when none is configured."),
]
SelectedOutcomes = Annotated[
    tuple[CIOutcome, ...],
    Field(description="CI outcomes behind `ci_resolution` only, by outcome_id; complete Facts with `raw`."),
]
AllOutcomes = Annotated[
    tuple[CIOutcome, ...],
    Field(description="CI outcomes on all commits of the Session, by outcome_id; complete Facts with `raw`."),
]
SelectedResolution = Annotated[
    CIResolution, Field(description="Resolution of the last commit of the Session that has a verdict.")
]
OptionalResolution = Annotated[
    CIResolution | MISSING,
    Field(description="Resolution of the last commit that has a verdict. Omitted when no commit has one."),
]
RowOrgId = Annotated[str, Field(description="The organization.")]
RowSessionId = Annotated[str, Field(description="The Session.")]
SegmentIndex = Annotated[
    int,
    Field(ge=0, description="0-based position of the Segment in its Rollout; skipped Segments keep their index."),
]
RowAttributionSource = Annotated[
    AttributionSource,
    Field(description="How the Session's commits were found: git notes, or text similarity."),
]
RowSplit = Annotated[Split, Field(description="Side of the train/eval split, decided by the session_id alone.")]
RowProvenance = Annotated[Provenance, Field(description="Rules, quarantine state and policy behind the Rollout.")]
SelectedObservationIds = Annotated[
    tuple[str, ...],
    Field(
        description=(
            "Sorted ids of the SessionCommitObservations that tie the Session to the commit of "
            "`ci_resolution`; empty when nothing was selected."
        )
    ),
]
ResolvedObservationIds = Annotated[
    tuple[str, ...],
    Field(description=("Sorted ids of SessionCommitObservations that tie the Session to commits in `ci_resolutions`.")),
]
RowRepositoryIdentity = Annotated[
    RepositoryIdentity | None,
    Field(
        description=(
            "Identity of the repository of `ci_resolution`; null when that is known by slug only, or nothing "
            "was selected."
        )
    ),
]
