"""Row models: one definition per row, from which key order, JSON Schema, docs and checks come (targets §6)."""
