"""``sediment explain`` as its page shows it, and how it refuses."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sediment_assets.demo.cases import CASES, FAILED, PASSED
from tests.cli.command import sediment

PAGE = Path(__file__).parents[2] / "docs" / "explain.md"
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the demo and an export of it, by the page's own first command."""
    directory = tmp_path_factory.mktemp("explained")
    assert sediment("demo", "plant", ".", cwd=directory).returncode == 0
    first = CONSOLE.findall(PAGE.read_text())[0].removeprefix("$ sediment ").splitlines()[0]
    done = sediment(*shlex.split(first), cwd=directory)
    assert done.returncode == 0, done.stderr
    return directory


@pytest.mark.parametrize("example", CONSOLE.findall(PAGE.read_text())[1:])
def test_every_example_of_the_page_is_what_the_command_prints(planted: Path, example: str):
    command, _, expected = example.partition("\n")
    done = sediment(*shlex.split(command.removeprefix("$ sediment ")), cwd=planted)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == expected


def test_json_is_one_object(planted: Path):
    done = sediment("explain", "--session", "ledger-statement-csv", "--json", cwd=planted)
    found = json.loads(done.stdout)
    assert found["session_id"] == "ledger-statement-csv"
    (swe_bench,) = [one for one in found["targets"] if one["target"] == "swe-bench"]
    assert [one["reason"] for one in swe_bench["declined"]] == ["failed_reference_patch"]
    assert swe_bench["declined"][0]["missing"]


def test_a_session_without_commits_hears_of_repositories_whose_notes_were_not_seen(planted: Path):
    question = ("explain", "--session", "dashboard-retention-question")
    hint = "    pushed, but without mirror, so that no note was seen: {}; run sediment mirror sync"
    assert hint.format("acme/mobile-app") in sediment(*question, cwd=planted).stdout.splitlines()
    unsynced = sediment(*question, cwd=planted, settings={"SEDIMENT_MIRROR_PATH": "not-yet"}).stdout.splitlines()
    assert hint.format("acme/ledger, acme/mobile-app, acme/telemetry-dashboard") in unsynced


def test_all_declined_sessions_can_be_listed(planted: Path):
    found = json.loads(sediment("explain", "--declined", "--json", cwd=planted).stdout)
    listed = {(one["session_id"], one["target"], one["population"], one["reason"]) for one in found}
    expected = set()
    for case in CASES:
        for target, task in (("sediment", case.task), ("swe-bench", case.swe_bench)):
            if task not in (None, PASSED, FAILED):
                expected.add((case.session_id, target, "tasks", task))
        for target in ("sediment", "nemo-gym") if case.declined else ():
            expected.add((case.session_id, target, "rollouts", case.declined))
    assert listed == expected


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ([], 1, "expected an INSTANCE_ID, --session ID or --declined, one of the three"),
        (["acme-x-seg0", "--session", "x"], 1, "one of the three"),
        (["--session", "x", "--declined"], 1, "one of the three"),
        (["--session", "x", "--partition", "2026-11-03"], 1, "expected together with --declined"),
        (["--declined", "--in", "rows"], 1, "--in: expected together with INSTANCE_ID or --session"),
        (["--declined", "--partition", "Tuesday"], 1, "--partition: expected a day such as 2026-11-02, got 'Tuesday'"),
        (["--declined", "--partition", "2026-02-30"], 1, "expected a day such as 2026-11-02, got '2026-02-30'"),
        (["--declined", "--reason", "mirror_absnt"], 1, "mirror_absent, missing_verifier_evidence, no_attributed_"),
        (["--declined", "--reason", "mirror_absnt"], 1, "--reason: expected one of degenerate_commit_range, "),
        (["other-x-seg0"], 1, "instance id: expected acme-<session>-<7 hex digits> or acme-<session>-seg<number>"),
        (["--session", ""], 1, "--session: expected "),
        (["--session", "\udcff"], 1, "--session: expected "),
        (["--session", "x", "--in", "nowhere"], 1, "nowhere: expected a complete generation, got no directory"),
        (["acme-x-seg0", "--policy", "none.toml"], 1, "none.toml"),
    ],
)
def test_refusals(planted: Path, arguments: list[str], code: int, says: str):
    done = sediment("explain", *arguments, cwd=planted)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("question", [("--declined",), ("--session", "s"), ("--declined", "--json")])
def test_an_organization_without_facts_is_warned_of(planted: Path, question: tuple[str, ...]):
    done = sediment("explain", *question, cwd=planted, settings={"SEDIMENT_ORG_ID": "acne"})
    assert done.stderr.startswith("no_facts: the Fact store has no visible Fact of organization 'acne' ")
    assert done.stderr.count("\n") == 1


def test_no_declined_session_leads_nowhere(planted: Path):
    done = sediment("explain", "--declined", "--partition", "2026-11-07", cwd=planted)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Sessions: 0\n", "")


@pytest.mark.parametrize("question", [("--declined", "--partition", "2026-11-07"), ("--session", "nobody")])
def test_a_commands_file_that_is_not_there_is_warned_of_as_by_an_export(planted: Path, question: tuple[str, ...]):
    done = sediment("explain", *question, cwd=planted, settings={"SEDIMENT_VERIFIER_COMMANDS_FILE": "none.toml"})
    assert done.stderr.startswith("verifier_commands_unusable: none.toml: ")


def test_a_session_that_nobody_captured_exits_1(planted: Path):
    done = sediment("explain", "--session", "nobody", cwd=planted)
    assert (done.returncode, done.stderr) == (1, "")
    assert "no Fact names this Session" in done.stdout


def test_help_and_parsing_import_nothing_heavy():
    code = (
        "import sys; from sediment_assets.cli.main import build_parser; build_parser(); "
        "print(sorted({'sqlalchemy', 'pydantic', 'dagster', 'yaml'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True, env=dict(os.environ)).strip() == "[]"
