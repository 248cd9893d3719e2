"""The row models of every target; each is the one definition of its row (contract chapter: targets §6)."""
