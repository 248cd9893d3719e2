"""InferenceCall: one captured model call (facts.md §3.1)."""

from datetime import datetime
from typing import ClassVar

from pydantic import Field

from sediment_assets.facts.defaults import new_id, now
from sediment_assets.facts.instants import Instant
from sediment_assets.facts.json_fields import Json
from sediment_assets.facts.messages import Message, ToolCallPart
from sediment_assets.facts.model import Fact
from sediment_assets.facts.scalars import Id, Identity, ModelName, Nat63, OrgId, SchemaVersion1
from sediment_assets.facts.vocabulary import FactTable, GatewayProvider


class InferenceCall(Fact):
    """One model call of a Session: what went in, what came out, when it was observed."""

    TABLE: ClassVar[FactTable] = FactTable.INFERENCE_CALLS
    KEY: ClassVar[str] = "inference_call_id"

    schema_version: SchemaVersion1 = Field(default=1, description="Version of the Fact's shape: 1.")
    inference_call_id: Id = Field(default_factory=new_id, description="The Fact's id.")
    org_id: OrgId = Field(description="The organization the Fact belongs to.")
    session_id: Id = Field(description="The Session the call belongs to.")
    user_id: Id | None = Field(default=None, description="The developer, if known.")
    gateway_provider: GatewayProvider = Field(description="The gateway that captured the call.")
    model_provider: Identity | None = Field(default=None, description="Who served the model, as captured.")
    model: ModelName | None = Field(default=None, description="The model's name, as captured.")
    input_messages: tuple[Message, ...] = Field(description="The messages sent to the model, in order.")
    output_messages: tuple[Message, ...] = Field(description="The messages the model produced, in order.")
    input_tokens: Nat63 | None = Field(default=None, description="Input size in tokens, if reported.")
    output_tokens: Nat63 | None = Field(default=None, description="Output size in tokens, if reported.")
    duration_ms: Nat63 | None = Field(default=None, description="Duration of the call in milliseconds, if known.")
    model_call_id: Id | None = Field(default=None, description="The provider's id of the call; one of its aliases.")
    observed_at: Instant = Field(default_factory=now, description="When the call was observed.")
    raw: Json = Field(default_factory=dict, description="The captured payload, unchanged.")

    @property
    def captured_at(self) -> datetime:
        """When the call was captured: its ``observed_at``, the call's only instant."""
        return self.observed_at

    @property
    def call_aliases(self) -> frozenset[str]:
        """Ids of the output tool calls, and the model call id if present: what decisions join on (facts.md §3.1)."""
        parts = (part for message in self.output_messages for part in message.parts)
        ids = {part.id for part in parts if isinstance(part, ToolCallPart)}
        return frozenset(ids if self.model_call_id is None else ids | {self.model_call_id})
