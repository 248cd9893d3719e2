"""Reading the verification commands file; what it means is ``targets/verification_commands.py`` (targets.md §9)."""

from pathlib import Path

from sediment_assets.targets.verification_commands import VerificationCommands, parse_verification_commands


def read_verification_commands(path: Path | None) -> VerificationCommands:
    """Read the commands file. Never raises: what cannot be used gives a warning and no commands."""
    if path is None:
        return VerificationCommands()
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return VerificationCommands(warnings=(f"verifier_commands_file_missing: {path}: no such file",))
    except OSError as error:
        return VerificationCommands(
            warnings=(f"verifier_commands_file_unreadable: {path}: {error.strerror}; no command is used",)
        )
    return parse_verification_commands(content)
