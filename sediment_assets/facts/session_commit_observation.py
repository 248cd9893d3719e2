"""SessionCommitObservation: the first sighting of a note-proven edge from a Session to a commit (facts.md §4.3)."""

from typing import ClassVar

from pydantic import Field

from sediment_assets.facts.defaults import new_id, now
from sediment_assets.facts.instants import Instant
from sediment_assets.facts.repository_fields import RepositoryFact
from sediment_assets.facts.scalars import CommitSha, Id, OrgId, RequiredRepoSlug
from sediment_assets.facts.vocabulary import FactTable


class SessionCommitObservation(RepositoryFact):
    """A note of a pushed commit named a Session, seen when a Push was handled."""

    TABLE: ClassVar[FactTable] = FactTable.SESSION_COMMIT_OBSERVATIONS
    KEY: ClassVar[str] = "observation_id"

    observation_id: Id = Field(default_factory=new_id, description="The Fact's id.")
    org_id: OrgId = Field(description="The organization the Fact belongs to.")
    repo: RequiredRepoSlug = Field(description="The repository's owner/name.")
    commit_sha: CommitSha = Field(description="The commit whose note names the Session.")
    session_id: Id = Field(description="The Session.")
    source_push_id: Id = Field(description="The Push at which the note was seen.")
    captured_at: Instant = Field(default_factory=now, description="When the note was seen.")
