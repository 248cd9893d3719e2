"""``sediment backfill`` and ``sediment ui``: the asset graph without and with a browser.

Each becomes the process of another module, so that this command line never imports Dagster. It gets the settings of
the environment and of ``.env``, and one instance directory (``DAGSTER_HOME``) for both commands.
"""

from __future__ import annotations

import argparse
import os
import runpy
import shutil
import signal
import socket
import sys
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from sediment_assets.cli.output import say, warn_without_mirrors
from sediment_assets.cli.parser import calendar_day
from sediment_assets.errors import SedimentError

if TYPE_CHECKING:
    from sediment_assets.adapters.settings import Settings

HOME_DIRECTORY: Final = ".dagster"
INSTANCE_FILE: Final = "dagster.yaml"
WORKSPACE_FILE: Final = ".sediment-workspace.yaml"
DEFAULT_EXPORT_ROOT: Final = "exports"
SETTING_PREFIX: Final = "SEDIMENT_"

_WORKSPACE: Final = """\
load_from:
  - python_module: {module_name: sediment_assets.definitions, location_name: sediment}
"""
"""The one code location, by the name that the project's own ``workspace.yaml`` gives it."""

BACKFILL_DESCRIPTION = """
Materialize a range of days in one process, without a daemon: the same runs, checks and events as in the UI. Every day
gets a new generation; nothing that was published before is touched.
"""
BACKFILL_EPILOG = """
example:
  sediment backfill --from 2026-11-02 --to 2026-11-08

Needs SEDIMENT_ORG_ID, SEDIMENT_DATABASE_URL and SEDIMENT_MIRROR_PATH, in the environment or in .env. Generations go
to SEDIMENT_EXPORT_ROOT (default: exports), the run history to DAGSTER_HOME (default: .dagster).
"""
UI_DESCRIPTION = """
Open the asset graph in Dagster's UI, with its daemon: dagster dev on the instance that sediment backfill uses.
Stop it with Ctrl-C.
"""


class GraphError(SedimentError):
    """The asset graph cannot be started."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``backfill`` and ``ui``; the parsed arguments carry the function to call as ``run``."""
    backfill = subparsers.add_parser(
        "backfill",
        help="materialize the asset graph for a range of days",
        description=BACKFILL_DESCRIPTION,
        epilog=BACKFILL_EPILOG,
    )
    backfill.add_argument(
        "--from", dest="first", required=True, type=calendar_day, metavar="DAY", help="first day, YYYY-MM-DD"
    )
    backfill.add_argument(
        "--to", dest="last", required=True, type=calendar_day, metavar="DAY", help="last day, included"
    )
    backfill.set_defaults(run=run_backfill)
    ui = subparsers.add_parser("ui", help="open the asset graph in the browser", description=UI_DESCRIPTION)
    ui.add_argument("--port", type=int, default=3000, help="port on 127.0.0.1 (default: 3000)")
    ui.set_defaults(run=run_ui)


def run_backfill(args: argparse.Namespace) -> NoReturn:
    """Become the process that materializes every day of the range; exit code 1 when any of them failed."""
    if args.first > args.last:
        raise GraphError(f"--from: expected a day not after --to ({args.last}), got {args.first}")
    _check_evidence()
    environment = graph_environment()
    continue_as(["sediment_assets.defs.backfill", str(args.first), str(args.last)], environment)


def _check_evidence() -> None:
    """Refuse a range of which every day would fail, before anything is made: in a wrong directory, say.

    :raises SedimentError: when there is no Fact store, or no base of mirrors.
    """
    from sediment_assets.adapters.fact_store.engine import read_snapshot, reading_engine
    from sediment_assets.adapters.mirror_base import require_mirror_base

    evidence = _checked_settings().evidence()
    engine = reading_engine(evidence.database_url)
    try:
        with read_snapshot(engine):
            pass
    finally:
        engine.dispose()  # this process goes on for the whole backfill
    require_mirror_base(evidence.mirror_path)
    warn_without_mirrors(evidence.mirror_path, evidence.org_id)


def _checked_settings() -> Settings:
    """Read the settings, and refuse those of which Dagster would only tell at length, or in its browser.

    :raises SettingsError: when a setting that every run needs is missing or wrong.
    """
    from sediment_assets.adapters.automation import Automation
    from sediment_assets.adapters.settings import Settings

    settings = Settings.load()
    settings.evidence()
    settings.partition_start(date.min)  # its default is the graph's
    settings.clone_url_policy()
    Automation.of(settings)
    return settings


def run_ui(args: argparse.Namespace) -> NoReturn:
    """Become ``dagster dev``."""
    environment = graph_environment()
    require_free_port(args.port)
    workspace = Path(environment["DAGSTER_HOME"], WORKSPACE_FILE)
    say(f"opening http://127.0.0.1:{args.port} (Ctrl-C stops it)")
    become(["dagster", "dev", "-w", str(workspace), "-h", "127.0.0.1", "-p", str(args.port)], environment)


def require_free_port(port: int) -> None:
    """Refuse a port that something listens on, before Dagster does so at length.

    :raises GraphError: naming the ways out.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise GraphError(
                f"--port {port}: expected a free port on 127.0.0.1, got: {error.strerror or error}; is another "
                "sediment ui running? Stop it, or take another port: "
                f"sediment ui --port {port + 1} (make ui PORT={port + 1})"
            ) from None
        except OverflowError:
            raise GraphError(f"--port: expected a number from 0 to 65535, got {port}") from None


def become(module: list[str], environment: Mapping[str, str]) -> NoReturn:
    """Replace this process, so that a signal reaches the one that has something to clean up.

    A shell starts background jobs with SIGINT ignored, and Dagster gives SIGTERM the handler of SIGINT.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    sys.stdout.flush()
    os.execve(sys.executable, [sys.executable, "-m", *module], environment)


def continue_as(module: list[str], environment: Mapping[str, str]) -> NoReturn:
    """Do what ``become`` does, without a new interpreter: for a module that needs what is imported here already."""
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    sys.argv = module
    runpy.run_module(module[0], run_name="__main__", alter_sys=True)
    sys.exit()


def graph_environment() -> dict[str, str]:
    """Return the environment of a Dagster process: settings, export root and instance directory, all absolute.

    :raises SettingsError: when a setting that every run needs is missing or wrong.
    """
    from sediment_assets.adapters.settings import EXPORT_ROOT

    settings = _checked_settings()
    home = instance_directory()
    prepare_home(home)
    names = {name for name in (*settings.environment, *settings.dotenv) if name.startswith(SETTING_PREFIX)}
    return {
        **os.environ,
        **{name: settings.get(name) or "" for name in names},  # in upper case, whatever case they were written in
        EXPORT_ROOT: str(settings.export_root(Path(DEFAULT_EXPORT_ROOT)).absolute()),
        "DAGSTER_HOME": str(home),
    }


def instance_directory() -> Path:
    """Return the directory of the Dagster instance, absolute; it may not exist yet."""
    return Path(os.environ.get("DAGSTER_HOME") or HOME_DIRECTORY).absolute()


def prepare_home(home: Path) -> None:
    """Create an instance directory with this project's ``dagster.yaml``, of which an existing one is left alone.

    Beside it goes the workspace file of ``sediment ui``, whose name is this project's own.

    :raises GraphError: when the operating system refuses.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
        if not (home / INSTANCE_FILE).exists():
            shutil.copyfile(_instance_file(), home / INSTANCE_FILE)
        (home / WORKSPACE_FILE).write_text(_WORKSPACE)
    except OSError as error:
        raise GraphError(f"{home}: cannot prepare the Dagster instance directory: {error.strerror or error}") from error


def _instance_file() -> Path:
    """Find ``dagster.yaml``: packaged beside the code, or at the root of a clone."""
    package = Path(__file__).resolve().parents[1]
    packaged = package / INSTANCE_FILE
    return packaged if packaged.exists() else package.parent / INSTANCE_FILE
