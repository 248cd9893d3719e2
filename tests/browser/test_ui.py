"""The asset graph as a reviewer sees it: ``sediment ui`` over the demo, its pages in a headless Chromium."""

import html
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from sediment_assets.cli.demo import import_evidence
from sediment_assets.demo import plant_evidence

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
if BROWSER is None:
    pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed", allow_module_level=True)

pytestmark = pytest.mark.xdist_group("ui")  # one worker starts it

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--window-size=1900,2400",
    "--virtual-time-budget=25000",
)
COMMAND = [sys.executable, "-m", "sediment_assets.cli.main"]
START_SECONDS = 180
PAGE_SECONDS = 180
ATTEMPTS = 3
TASKS = "/assets/targets/sediment/tasks"
GROUPS = ("facts", "mirrors", "canonical", "targets", "targets/sediment", "targets/swe_bench", "targets/nemo_gym")


@dataclass(frozen=True)
class Site:
    """A running UI, and a directory for the browser's profiles."""

    address: str
    work: Path

    def dump(self, path: str) -> str:
        """The text of a page, one line an element, once its scripts have run."""
        profile = self.work / f"profile-{time.monotonic_ns()}"
        command = [str(BROWSER), *FLAGS, f"--user-data-dir={profile}", "--dump-dom", self.address + path]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PAGE_SECONDS)
        text = re.sub(r"<(script|style)\b.*?</\1>", "", done.stdout, flags=re.DOTALL)
        return "\n".join(filter(None, map(str.strip, html.unescape(re.sub(r"<[^>]+>", "\n", text)).splitlines())))

    def page(self, path: str, *expected: str) -> str:
        """The text of a page that shows what is expected; a busy machine may need another look."""
        missing: list[str] = list(expected)
        for _ in range(ATTEMPTS):
            text = self.dump(path)
            missing = [line for line in expected if line not in text]
            if not missing:
                return text
        raise AssertionError(f"{path} does not show {missing}")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(f"{address}/server_info", timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(f"no answer within {START_SECONDS} s: {log.read_text()}")


def end(process: subprocess.Popen[bytes]) -> None:
    """End the UI with its daemon, web server and code servers: they share its process group."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Settings of the demo, of which a full and an empty day are materialized; the full one last."""
    work = tmp_path_factory.mktemp("ui")
    evidence = plant_evidence(work / "demo")
    import_evidence(evidence)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(work),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "DAGSTER_HOME": str(work / "home"),
        "SEDIMENT_EXPORT_ROOT": str(work / "exports"),
        **evidence.settings,
    }
    for day in ("2026-11-07", "2026-11-04"):
        command = [*COMMAND, "backfill", "--from", day, "--to", day]
        done = subprocess.run(command, cwd=work, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return env


@pytest.fixture(scope="module")
def site(environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    work = tmp_path_factory.mktemp("browser")
    port = free_port()
    log = work / "ui.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*COMMAND, "ui", "--port", str(port)],
            cwd=work,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        site = Site(f"http://127.0.0.1:{port}", work)
        wait_for(site.address, process, log)
        yield site
    finally:
        end(process)


def test_the_lineage_page_shows_every_group_and_asset(site: Site):
    expanded = ",".join(f"global%40global%3A{group.replace('/', '%2F')}" for group in GROUPS)
    text = site.page(
        f"/asset-groups?expanded={expanded}",
        "Global asset lineage",
        *(group.rpartition("/")[2] for group in GROUPS),
        "inference_calls",
        "developer_decisions",
        "ci_outcomes",
        "pushes",
        "session_commit_observations",
        "repository_renames",
        "quarantine",
        "ci_resolutions",
        "environment",
    )
    lines = text.splitlines()
    assert lines.count("rollouts") == 3  # canonical, sediment, nemo_gym
    assert lines.count("tasks") == 2  # sediment, swe_bench
    assert "Never observed" not in text


def test_an_asset_page_explains_the_asset_and_its_columns(site: Site):
    site.page(
        f"{TASKS}?view=overview",
        "Audit tasks: problem statement, base commit, Reference patch",
        "Row count",
        "Columns",
        "reference_patch",
        "Git patch from the base commit to the verified commit; applies exactly with",
        "omitted when absent",
        "training-data",
        "materialize_day",
        "At 03:00 AM UTC",
    )


def test_the_page_of_a_day_shows_skips_with_their_meaning_and_rows(site: Site):
    text = site.page(
        f"{TASKS}?view=partitions&partition=2026-11-04",
        "rollouts_considered",
        "root_commit_no_base",
        "The Session's first commit has no parent to start from.",
        "acme-dashboard-emoji-labels-",
        "tasks.train.jsonl",
        "policy_digest",
        "as_of",
    )
    lines = text.splitlines()
    assert lines[lines.index("skipped") :][2:6] == ["reason", "count", "unit", "meaning"]
    assert lines[lines.index("dagster/row_count") + 1] == "1"
    assert lines[lines.index("rollouts_considered") + 1] == "6"


def test_the_page_of_an_empty_day_says_that_there_is_nothing(site: Site):
    text = site.page(f"{TASKS}?view=partitions&partition=2026-11-07", "no rows", "rollouts_considered")
    lines = text.splitlines()
    assert lines[lines.index("dagster/row_count") + 1] == "0"
    assert lines[lines.index("skipped") + 1] == "none"
    assert lines[lines.index("files") + 1] == "none"


def test_the_checks_page_counts_each_reason_first(site: Site):
    text = site.page(
        f"{TASKS}?view=checks",
        "Rollouts considered: 6. Rows written: 1. Rollouts declined for a counted reason: 5.",
        "skip/root_commit_no_base",
        "skip/reference_patch_unavailable",
        "The verified commit's repository has no mirror.",
        "Plots",
    )
    lines = text.splitlines()
    assert lines.index("counts_add_up") < lines.index("generation_intact") < lines.index("rows_match_schema")
    assert lines[lines.index("skip/mirror_absent") + 1] == "1"
    assert lines[lines.index("skip/non_finite_number") + 1] == "0"


def test_observed_facts_show_their_table_and_counts(site: Site):
    text = site.page(
        "/assets/facts/ci_outcomes?view=overview", "One terminal CI run attempt.", "ci_outcomes", "commit_sha"
    )
    lines = text.splitlines()
    assert lines[lines.index("facts", lines.index("Metadata")) + 2] == "43"
