"""The ``sediment`` command in a process of its own, without the second that its imports take.

A fork server imports the program once; each run is a fork of it, with the arguments, environment and directory that it
is given. Where the start itself is under test, use ``tests/cli/command.py``.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PRELOADED = (
    "sediment_assets.adapters.bundle_dir",
    "sediment_assets.adapters.evidence",
    "sediment_assets.adapters.fact_store.importer",
    "sediment_assets.adapters.settings",
    "sediment_assets.cli.derive",
    "sediment_assets.cli.main",
    "sediment_assets.publish.export",
)


Fault = Callable[[], None]
"""Called in the new process just before the command: what goes wrong, or when. Can be pickled."""


def sediment(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], fault: Fault | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command with exactly this environment. The return code is negative when a signal ended it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    with tempfile.TemporaryDirectory() as directory:
        stdout, stderr = Path(directory, "stdout"), Path(directory, "stderr")
        process = context.Process(target=_run, args=(list(arguments), cwd, dict(env), stdout, stderr, fault))
        process.start()
        process.join()
        texts = [path.read_text("utf-8") if path.exists() else "" for path in (stdout, stderr)]
    assert process.exitcode is not None
    code = process.exitcode
    process.close()
    return subprocess.CompletedProcess(list(arguments), code, *texts)


def _run(arguments: list[str], cwd: Path, env: dict[str, str], stdout: Path, stderr: Path, fault: Fault | None) -> None:
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None  # found before the fork; TMPDIR may differ now
    for path, descriptor in ((stdout, 1), (stderr, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), descriptor)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)

    from sediment_assets.cli.main import main

    if fault is not None:
        fault()
    sys.exit(main(arguments))
