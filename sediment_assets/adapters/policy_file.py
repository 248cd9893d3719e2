"""Reading a derivation policy from its TOML file (derivation.md §1.1)."""

from pathlib import Path

from sediment_assets.derive.policy import DerivationPolicy, PolicyError, parse_policy


def read_policy(path: Path) -> DerivationPolicy:
    """Read and check a policy file.

    :raises PolicyError: when it cannot be read or used; the message names the file.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PolicyError(f"{path}: expected a readable policy file, got: {error.strerror or error}") from None
    return parse_policy(data, place=str(path))
