"""The command line and the graph write the same rows for the same evidence, byte for byte."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from sediment_assets.defs.keys import output_key, outputs_of
from sediment_assets.targets.registry import Target
from tests import forked_command
from tests.dagster.conftest import DAYS, Week
from tests.dagster.graph import Evidence, Graph, artifacts


def export(evidence: Evidence, target: Target, out: Path) -> dict[str, bytes]:
    """Export by the command; give what it published."""
    env = {"PATH": os.environ["PATH"], **evidence.settings}
    command = ["export", "rlvr", "--target", target.value, "--out", str(out)]
    done = forked_command.sediment(command, cwd=out.parent, env=env)
    assert done.returncode == 0, done.stderr
    return artifacts(out)


def test_evidence_of_one_day_gives_equal_files_through_both_doors(graph: Graph, tmp_path: Path):
    graph.run(DAYS[0])
    for target in Target:
        generation = graph.generation(output_key(target, outputs_of(target)[0]), DAYS[0])
        published = artifacts(generation)
        assert published
        assert published == export(graph.evidence, target, tmp_path / target)


@pytest.mark.parametrize("target", Target)
def test_the_week_holds_exactly_the_rows_of_an_export_of_everything(week: Week, target: Target, tmp_path: Path):
    generations = [week.graph.generation(output_key(target, outputs_of(target)[0]), day) for day in DAYS]
    whole = export(week.graph.evidence, target, tmp_path / "whole")
    assert {name for directory in generations for name in artifacts(directory)} == set(whole)
    for name, content in whole.items():
        if name.endswith(".jsonl"):
            assert lines_of(generations, name) == sorted(content.splitlines(keepends=True))


def lines_of(directories: Iterable[Path], name: str) -> list[bytes]:
    """Lines of the files of one name, sorted: partitions interleave Sessions."""
    return sorted(line for directory in directories for line in artifacts(directory).get(name, b"").splitlines(True))


def test_a_days_rows_are_in_the_order_of_the_whole_export(week: Week, tmp_path: Path):
    whole = export(week.graph.evidence, Target.SEDIMENT, tmp_path / "whole")
    for day in DAYS:
        published = artifacts(week.graph.generation(output_key(Target.SEDIMENT, "tasks"), day))
        for name in (name for name in published if name.endswith(".jsonl")):
            order = {line: number for number, line in enumerate(whole[name].splitlines())}
            numbers = [order[line] for line in published[name].splitlines()]
            assert numbers == sorted(numbers)
