"""Every Session of the demo, explained: the rule that declined it, its evidence, and its published rows."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sediment_assets.adapters.evidence import OpenEvidence, open_evidence
from sediment_assets.adapters.explanation import Explanation, explain_session
from sediment_assets.adapters.verification_file import read_verification_commands
from sediment_assets.cli.explain_json import plain
from sediment_assets.cli.explain_texts import describe
from sediment_assets.demo import DemoEvidence
from sediment_assets.demo.cases import CASES, FAILED, PASSED, Case
from sediment_assets.lineage.answers import Answer, declined
from sediment_assets.lineage.missing import MISSING
from sediment_assets.publish.export import ExportSettings, export_rlvr
from sediment_assets.rollouts.derivation import Derivation
from sediment_assets.targets.registry import TARGETS, Population, Target
from sediment_assets.targets.skips import RolloutSkip, RowSkip, TaskSkip, vocabulary

ORG = "acme"


@pytest.fixture(scope="module")
def opened(imported: DemoEvidence) -> Iterator[OpenEvidence]:
    with open_evidence(
        ORG, imported.settings["SEDIMENT_DATABASE_URL"], Path(imported.settings["SEDIMENT_MIRROR_PATH"])
    ) as found:
        yield found


@pytest.fixture(scope="module")
def commands(imported: DemoEvidence):
    return read_verification_commands(Path(imported.settings["SEDIMENT_VERIFIER_COMMANDS_FILE"]))


@pytest.fixture(scope="module")
def answered(opened: OpenEvidence, commands) -> dict[str, dict[tuple[Target, Population], Answer]]:
    return {
        session_id: {(answer.target, answer.population): answer for answer in found}
        for session_id, found in declined(Derivation(opened.facts, opened.mirrors), opened.mirrors, commands)
    }


@pytest.fixture(scope="module")
def exported(opened: OpenEvidence, commands, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("exported") / "sediment"
    source = Derivation(opened.facts, opened.mirrors)
    export_rlvr(source, opened.mirrors, out, target="sediment", settings=ExportSettings(commands))
    return out


def explained(imported: DemoEvidence, commands, session_id: str, *generations: Path) -> Explanation:
    return explain_session(
        ORG,
        imported.settings["SEDIMENT_DATABASE_URL"],
        Path(imported.settings["SEDIMENT_MIRROR_PATH"]),
        session_id,
        commands=commands,
        generations=generations,
    )


def text(explanation: Explanation, instance_id: str | None = None) -> str:
    return "\n".join(describe(explanation, instance_id))


def reasons(answer: Answer) -> list[str]:
    return [one.reason.value for one in answer.declined]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.session_id)
def test_every_session_names_the_rule_that_declined_it(case: Case, answered):
    if case.task is None:
        assert case.session_id not in answered
        return
    found = answered[case.session_id]
    for target, task in ((Target.SEDIMENT, case.task), (Target.SWE_BENCH, case.swe_bench)):
        answer = found[target, Population.TASKS]
        assert reasons(answer) == ([] if task in (PASSED, FAILED) else [task])
        assert len(answer.rows) == (task in (PASSED, FAILED))
    for target in (Target.SEDIMENT, Target.NEMO_GYM):
        answer = found[target, Population.ROLLOUTS]
        assert (len(answer.rows), reasons(answer)) == (case.rows, [case.declined] if case.declined else [])


def test_rows_are_the_very_lines_of_an_export(answered, exported: Path):
    lines = [line for path in sorted(exported.glob("*.jsonl")) for line in path.read_bytes().splitlines()]
    rows = [
        row.line
        for found in answered.values()
        for (target, _), answer in found.items()
        for row in answer.rows
        if target is Target.SEDIMENT
    ]
    assert sorted(rows) == sorted(lines)


def test_every_reason_that_declines_says_what_is_missing():
    declining = {
        reason
        for target, spec in TARGETS.items()
        for population in spec.populations
        for reason in vocabulary(target, population.population)
        if isinstance(reason, TaskSkip | RolloutSkip | RowSkip)
    }
    assert set(MISSING) == declining


def test_a_row_leads_to_its_file_its_calls_its_commit_and_its_verdict(imported, commands, exported: Path):
    found = explained(imported, commands, "dashboard-timezone-axis", exported)
    (task,) = [row for row in found.published if row.file.startswith("tasks")]
    assert (exported / task.file).read_bytes().splitlines()[task.line - 1] == task.content
    shown = text(found, task.instance_id)
    assert f"{exported}/tasks.eval.jsonl:{task.line}\n      the Facts give the same row now" in shown
    assert "dashboard-timezone-axis-call-01  2026-11-06T09:15:02.957000Z" in shown
    assert "found by: Git note, SessionCommitObservation telemetry-dashboard-observation-11" in shown
    assert "CI run 19596800444 attempt 2 passed" in shown
    assert "passed, reliability 1.0; this is the verdict that counts" in shown
    assert "quarantined (revision 5): runner image without libatomic" in shown
    assert "none: exported directly from the Facts" in shown
    assert json.loads(json.dumps(plain(found)))["rollout"]["commits"][0]["selected"] is True


def test_a_published_row_that_the_facts_do_not_give_any_more_is_said(imported, commands, exported: Path):
    found = explained(imported, commands, "dashboard-timezone-axis", exported)
    changed = tuple(replace(row, content=row.content + b" ") for row in found.published[:1])
    gone = tuple(replace(row, instance_id="acme-x-seg9") for row in found.published[1:])
    shown = text(replace(found, published=(*changed, *gone)), "acme-dashboard-timezone-axis-seg9")
    assert "the Facts give another row now" in shown
    assert "the Facts do not give it any more" in shown
    assert "acme-dashboard-timezone-axis-seg9: the Facts give no such row now" in shown


def test_a_session_without_visible_calls_names_the_quarantine(imported, commands):
    found = explained(imported, commands, "ledger-customer-dump")
    assert found.chain is None
    assert "all of its InferenceCalls (3) are quarantined" in text(found)
    assert "a customer dump was pasted into the prompt" in text(found)


def test_a_session_that_nobody_captured_is_said(imported, commands):
    found = explained(imported, commands, "no-such-session")
    assert (found.chain, found.stored) == (None, ())
    assert "no Fact names this Session" in text(found)


def test_a_session_without_commits_says_what_was_looked_for(imported, commands):
    shown = text(explained(imported, commands, "dashboard-retention-question"))
    assert "no note and no SessionCommitObservation names the Session" in shown
    assert "Pushes captured near its calls: none" in shown
    assert f"missing: {MISSING[TaskSkip.NO_ATTRIBUTED_COMMIT]}" in shown


def test_a_missing_mirror_is_named_by_its_place(imported, commands):
    shown = text(explained(imported, commands, "mobile-offline-banner"))
    assert "no mirror (expected at repositories-v1/acme/github/git.example.test/712345003 under" in shown
