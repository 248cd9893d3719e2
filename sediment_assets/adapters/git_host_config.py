"""What fetching takes from the host: the git settings and variables that reach a forge, and no others.

Everything else about git stays pinned, as for reading (``git_process``): a developer's ``fetch.*``, ``remote.*``,
hooks or aliases change no mirror. Kept are credential helpers, HTTP and proxy settings, URL rewriting, and the ssh
command. The variables of the process stay too, since helpers and ssh agents live on them, but for git's own and ours.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sediment_assets.adapters.git_process import GitUnavailableError, git_executable
from sediment_assets.mirrors.clone_url import Credentials

PROTOCOLS: Final = "git:http:https:ssh"
"""Transports of production; development adds ``file`` (mirrors.md §5)."""

_KEPT_KEYS: Final = re.compile(r"(credential|http|url|ssh)\..+|core\.(sshcommand|askpass|gitproxy)", re.DOTALL)
_DROPPED_KEYS: Final = re.compile(r"http\..*\.?followredirects", re.DOTALL)  # one for a URL would win over ours
_KEPT_VARIABLES: Final = re.compile(
    r"GIT_(SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|SSL_.*|PROXY_SSL_.*|HTTP_PROXY_AUTHMETHOD)"
)
_SCOPES: Final = ("system", "global", "command")
_HELPER: Final = (
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" '
    '"$SEDIMENT_CLONE_USERNAME" "$SEDIMENT_CLONE_PASSWORD"; }; f'
)
_SECONDS: Final = 30


@dataclass(frozen=True, slots=True, repr=False)
class HostGitConfig:
    """Settings of the host in the order git read them. Values may be secrets: they travel in the environment only."""

    settings: tuple[tuple[str, str], ...]
    variables: Mapping[str, str]

    @classmethod
    def load(cls) -> "HostGitConfig":
        """Ask git for its system and global settings, includes followed, and take the process environment.

        A configuration that git cannot read gives no settings: fetching then says what is missing.

        :raises GitUnavailableError: when git cannot be started.
        """
        command = [git_executable(), "config", "--show-scope", "--includes", "--null", "--list"]
        try:
            done = subprocess.run(command, cwd=os.sep, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise GitUnavailableError(f"git config: expected the host's settings, got {error}") from None
        words = os.fsdecode(done.stdout).split("\0")
        found = []
        for scope, entry in zip(words[::2], words[1::2], strict=False):
            key, separator, value = entry.partition("\n")
            if scope in _SCOPES and _KEPT_KEYS.fullmatch(key) and not _DROPPED_KEYS.fullmatch(key.lower()):
                found.append((key, value if separator else "true"))
        return cls(tuple(found), _host_variables())

    def environment(self, *, development: bool, url: str, credentials: Credentials | None) -> dict[str, str]:
        """Return the variables of a fetch from ``url``; ``credentials`` replace those of the host."""
        settings = [*self.settings]
        variables = {
            **self.variables,
            **_FIXED,
            "GIT_ALLOW_PROTOCOL": f"file:{PROTOCOLS}" if development else PROTOCOLS,
        }
        if credentials is not None:
            settings = [(key, value) for key, value in settings if not key.startswith("credential.")]
            settings.append((f"credential.{_origin(url)}.helper", _HELPER))
            variables |= {
                "SEDIMENT_CLONE_USERNAME": credentials.username,
                "SEDIMENT_CLONE_PASSWORD": credentials.password,
            }
        if not {"GIT_SSH", "GIT_SSH_COMMAND"} & variables.keys() and "core.sshcommand" not in dict(settings):
            variables["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes"  # ssh asks for passwords by itself
        variables["GIT_CONFIG_COUNT"] = str(len(settings))
        for number, (key, value) in enumerate(settings):
            variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return variables


_FIXED: Final = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "GIT_NO_REPLACE_OBJECTS": "1",
}


def _host_variables() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()  # noqa: TID251  # no setting: what ssh agents, helpers and proxies need
        if not name.upper().startswith(("GIT_", "SEDIMENT_", "SSH_ASKPASS")) or _KEPT_VARIABLES.fullmatch(name)
    }


def _origin(url: str) -> str:
    """Return scheme, host and port of an http(s) URL without credentials."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{re.split('[/?#]', rest, maxsplit=1)[0]}"
