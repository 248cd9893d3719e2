"""Publishing: claims, locks, staging and the completion record. Files, no decision about rows (targets §11–12)."""
