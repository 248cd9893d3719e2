"""Reading the verification commands file; what it means is ``targets/verification_commands.py`` (targets.md §9)."""

from pathlib import Path

from sediment_assets.targets.verification_commands import VerificationCommands, parse_verification_commands


def read_verification_commands(path: Path | None) -> VerificationCommands:
    """Read the commands file. Never raises: what cannot be used gives a warning and no commands.

    No path means that no command is configured; a path without a file means the same, with a warning.
    """
    if path is None:
        return VerificationCommands()
    try:
        if path.exists() and not path.is_file():  # a FIFO would wait, a device would never end
            return VerificationCommands(
                warnings=(f"{path}: expected a regular file, got something else; no command is used",), usable=False
            )
        content = path.read_bytes()
    except FileNotFoundError:
        problem = f"{path}: no such file; no command is used"
        return VerificationCommands(warnings=(problem,), usable=False)
    except OSError as error:
        problem = f"{path}: cannot be read: {error.strerror or error}; no command is used"
        return VerificationCommands(warnings=(problem,), usable=False)
    return parse_verification_commands(content, place=str(path))
