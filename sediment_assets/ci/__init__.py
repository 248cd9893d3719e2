"""CI outcomes to one verdict per commit, and the verdict that rewards a Rollout (derivation §11)."""
