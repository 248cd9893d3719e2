"""One running ``sediment ui`` over the demo, asked by GraphQL as its pages ask, and looked at in a headless Chromium.

It is started as a shell starts a background job, SIGINT ignored, and must end on SIGTERM all the same.
"""

import html
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.cli.demo import import_evidence
from sediment_assets.demo import plant_evidence
from tests.ports import free_port

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)

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
    "--virtual-time-budget=25000",
)
COMMAND = [sys.executable, "-m", "sediment_assets.cli.main"]
SECONDS = 240
"""How long anything may take on a busy machine."""
ATTEMPTS = 3


def pytest_itemcollected(item: pytest.Item) -> None:
    """Skip pages where there is no browser."""
    if Path(__file__).parent in item.path.parents and BROWSER is None and "page" in item.name:
        item.add_marker(pytest.mark.skip(reason=f"none of {', '.join(BROWSERS)} is installed"))


@dataclass(frozen=True)
class Site:
    """A running UI, and a directory for the browser's profiles."""

    address: str
    work: Path
    settings: Mapping[str, str]

    def ask(self, query: str, **variables: Any) -> Any:
        """Ask the web server as its pages do."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(f"{self.address}/graphql", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as response:
            answer = json.load(response)
        assert not answer.get("errors"), answer["errors"]
        return answer["data"]

    def wait(self, what: str, found: Callable[[], Any]) -> Any:
        """Return the first answer that is not empty."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            if answer := found():
                return answer
            time.sleep(0.5)
        raise AssertionError(f"{what}: not within {SECONDS} s")

    def dump(self, path: str, size: str) -> str:
        """The text of a page, one line an element, once its scripts have run."""
        profile = self.work / f"profile-{time.monotonic_ns()}"
        flags = [*FLAGS, f"--window-size={size}", f"--user-data-dir={profile}"]
        command = [str(BROWSER), *flags, "--dump-dom", self.address + path]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        text = re.sub(r"<(script|style)\b.*?</\1>", "", done.stdout, flags=re.DOTALL)
        return "\n".join(filter(None, map(str.strip, html.unescape(re.sub(r"<[^>]+>", "\n", text)).splitlines())))

    def page(self, path: str, *expected: str, size: str = "1900,2400") -> str:
        """The text of a page that shows what is expected; a busy machine may need another look."""
        missing: list[str] = list(expected)
        for _ in range(ATTEMPTS):
            text = self.dump(path, size)
            missing = [line for line in expected if line not in text]
            if not missing:
                return text
        raise AssertionError(f"{path} does not show {missing}")


def ignored_interrupts() -> None:
    """What a shell without job control does to a command that ends in ``&``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/server_info", timeout=5):
            return True
    except OSError:
        return False


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    work = tmp_path_factory.mktemp("ui")
    evidence = plant_evidence(work / "demo")
    import_evidence(evidence)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(work),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "DAGSTER_HOME": str(work / "home"),
        "SEDIMENT_EXPORT_ROOT": str(work / "exports"),
        "SEDIMENT_AUTOMATION": "local",
        "SEDIMENT_SENSOR_SECONDS": "2",
        **evidence.settings,
    }
    port, log = free_port(), work / "ui.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*COMMAND, "ui", "--port", str(port)],
            cwd=work,
            env=env,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=ignored_interrupts,
        )
    site = Site(f"http://127.0.0.1:{port}", work, evidence.settings)
    try:
        site.wait("the UI answers", lambda: process.poll() is not None or answers(site.address))
        assert process.poll() is None, log.read_text()
        yield site
        process.terminate()  # this one alone: it has to end its daemon, web server and code server
        site.wait("every process ends on SIGTERM", lambda: process.poll() is not None and not is_group(process.pid))
    finally:
        if is_group(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def is_group(number: int) -> bool:
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return False
    return True
