"""Repository identity: which repository a captured name means (contract chapter: mirrors §8)."""
