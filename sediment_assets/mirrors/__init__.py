"""What the derivation asks of a Git mirror, without git itself (contract chapter: mirrors §1, §5–7)."""
