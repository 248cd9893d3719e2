"""The ledger's code does what its CI outcomes say: its own tests are run at some of its commits."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sediment_assets.demo.sessions import build_demo
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.vocabulary import CIResult

DEMO = build_demo()
LEDGER = DEMO.mirrored[0]


@pytest.mark.parametrize(
    "message",
    [
        "Round card fees half up",
        "Export statements as CSV",
        "Import transfers from a file",
        "Share the running balance",
        "Alert once until the balance recovers",
    ],
)
def test_the_tests_of_a_commit_end_as_its_ci_did(message: str, tmp_path: Path):
    (commit,) = (commit for commit in LEDGER.history.reachable() if commit.message.strip() == message)
    (outcome,) = (o for o in DEMO.evidence.of(CIOutcome) if o.commit_sha == commit.sha)
    for path, content in commit.files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) == (outcome.result is CIResult.PASSED), done.stdout
