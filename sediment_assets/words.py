"""Words that messages of every part share."""


def quantity(count: int, noun: str) -> str:
    """Spell a count with its noun: ``1 file``, ``2 files``, ``3 Pushes``."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}{'es' if noun.endswith('sh') else 's'}"
