"""Git processes of this test run, to count and to kill."""

import os
import subprocess


def git_children() -> list[str]:
    """Git processes that this process started and has not reaped, zombies included."""
    command = ["ps", "-o", "pid=,comm=", "--ppid", str(os.getpid())]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return [line.split()[0] for line in listed.splitlines() if line.split()[1] == "git"]
