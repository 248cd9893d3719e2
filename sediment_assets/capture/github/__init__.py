"""GitHub: what its webhooks and its Actions REST answers say, one module per kind of Fact (facts.md §4)."""
