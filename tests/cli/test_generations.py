"""``sediment generations`` as a user runs it: listings, damage, comparisons, pruning, and how it refuses."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sediment_assets.publish.artifacts import CLAIM, LOCK
from tests.cli.command import sediment
from tests.generation_root import DAY, Root
from tests.generation_states import RETRY, WAS, materialize


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return Root(tmp_path / "exports")


def generations(cwd: Path, *arguments: str, **settings: str):
    return sediment("generations", *arguments, cwd=cwd, settings=settings)


class TestList:
    def test_the_newest_of_each_kind_and_day_and_every_incomplete_one(self, root: Root, tmp_path: Path):
        root.rows("a.0")
        root.rows("b.0")
        (root.place("nemo-gym", "c.0") / LOCK).mkdir(parents=True)
        done = generations(tmp_path, "list")
        assert (done.returncode, done.stderr) == (0, "")
        first, _, header, row, _, incomplete = done.stdout.splitlines()
        assert first.startswith("exports: 2 complete generations, ")
        assert first.endswith(", incomplete: 1")
        assert header.split() == ["kind", "partition", "generation", "rows", "data", "version", "size", "skipped"]
        assert row.split()[:4] == ["nemo-gym", DAY, "b.0", "1"]
        assert incomplete == f"incomplete: exports/nemo-gym/{DAY}/c.0: an export is running, or was killed"
        assert generations(tmp_path, "list", "--all").stdout.count("nemo-gym") == 3

    def test_json_holds_what_the_records_say(self, root: Root, tmp_path: Path):
        path = root.rows("a.0")
        (found,) = json.loads(generations(tmp_path, "list", str(root.path), "--json").stdout)
        record = json.loads((path / ".sediment-generation.json").read_text())
        assert found["data_version"] == record["data_version"]
        assert found["rows"] == {"rollouts": 1}
        assert found["complete"] is True
        assert json.loads(generations(tmp_path, "list", "--kind", "sediment", "--json").stdout) == []

    def test_no_export_root_is_an_error(self, tmp_path: Path):
        done = generations(tmp_path, "list", SEDIMENT_EXPORT_ROOT="nowhere")
        assert done.returncode == 1
        assert "nowhere: expected an export root (SEDIMENT_EXPORT_ROOT), got no directory" in done.stderr

    def test_exports_of_the_command_line_are_pointed_elsewhere(self, root: Root, tmp_path: Path):
        root.rows("a.0").rename(tmp_path / "rows")
        for place in (tmp_path, tmp_path / "rows"):
            done = generations(tmp_path, "list", str(place))
            assert done.returncode == 0
            assert done.stdout.splitlines()[-1] == (
                "no generations in the layout KIND/PARTITION/RUN here; command-line exports are checked by "
                "sediment generations verify|diff DIR"
            )

    def test_a_partition_is_a_day_that_exists(self, root: Root, tmp_path: Path):
        root.rows("a.0")
        assert "a.0" in generations(tmp_path, "list", "--partition", DAY.replace("-", "")).stdout
        done = generations(tmp_path, "list", "--partition", "2026-02-30")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.endswith("expected a day such as 2026-11-02, got '2026-02-30'\n")


class TestVerify:
    def test_each_damaged_file_is_named(self, root: Root, tmp_path: Path):
        damaged, whole = root.rows("a.0"), root.rows("b.0")
        (root.place("nemo-gym", "c.0")).mkdir()
        assert generations(tmp_path, "verify").stdout == "intact: 2 generations, 2 files hashed; incomplete: 1\n"
        (damaged / "rollouts.train.jsonl").write_text("{}\n")
        (damaged / CLAIM).unlink()
        done = generations(tmp_path, "verify")
        assert (done.returncode, done.stdout) == (1, "intact: 1 generation, 1 file hashed; incomplete: 1\n")
        assert f"{damaged.relative_to(tmp_path)}: the generation was changed" in done.stderr
        assert "rollouts.train.jsonl: expected" in done.stderr
        assert f"{CLAIM}: expected a claim, got none" in done.stderr
        assert generations(tmp_path, "verify", str(whole)).returncode == 0

    def test_what_is_neither_is_an_error(self, tmp_path: Path):
        done = generations(tmp_path, "verify", ".")
        assert (done.returncode, done.stdout) == (1, "")
        assert "expected a complete generation or an export root, got neither" in done.stderr


class TestDiff:
    def test_the_two_newest_of_a_partition(self, tmp_path: Path):
        for name, state in {"a.0": WAS, "b.0": WAS.plus(RETRY)}.items():
            materialize(tmp_path / "exports", name, state)
        done = generations(tmp_path, "diff", f"exports/sediment/{DAY}")
        assert (done.returncode, done.stderr) == (0, "")
        assert f"A exports/sediment/{DAY}/a.0\nB exports/sediment/{DAY}/b.0\n" in done.stdout
        assert "changed tasks acme-s1-" in done.stdout
        assert "  new_ci_attempt: arrived: o2" in done.stdout
        found = json.loads(generations(tmp_path, "diff", f"exports/sediment/{DAY}", "--json").stdout)
        assert found["rows"] == {"added": 0, "removed": 0, "changed": 2}
        assert found["causes"] == {"new_ci_attempt": {"added": 0, "removed": 0, "changed": 2}}

    def test_examples_are_few_and_the_rest_counted(self, tmp_path: Path):
        for name, state in {"a.0": WAS, "b.0": replace(WAS, mirrored=False)}.items():
            materialize(tmp_path / "exports", name, state)
        done = generations(tmp_path, "diff", f"exports/sediment/{DAY}", "--examples", "1")
        assert done.stdout.endswith("and 1 more: --examples 2 shows all\n")

    def test_nothing_to_compare_with_is_an_error(self, root: Root, tmp_path: Path):
        one = root.rows("a.0")
        for path in (str(one), str(one.parent)):
            done = generations(tmp_path, "diff", path)
            assert (done.returncode, done.stdout) == (1, "")
            assert done.stderr.count("\n") == 1

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["nowhere"], "nowhere: expected a generation or the directory of a partition, got no directory"),
            (["nowhere", "nowhere"], "nowhere: expected a complete generation, got no directory"),
            (["nowhere", "--examples", "-1"], "--examples: expected a number of rows, at least 0, got -1"),
            ([f"exports/rollouts/{DAY}"], "expected rows of a target, got a derived bundle"),
        ],
    )
    def test_refusals(self, tmp_path: Path, arguments: list[str], says: str):
        for name in ("a.0", "b.0"):
            materialize(tmp_path / "exports", name, WAS)
        done = generations(tmp_path, "diff", *arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert says in done.stderr
        assert done.stderr.count("\n") == 1


class TestPrune:
    def test_a_dry_run_removes_nothing_and_yes_removes_what_it_said(self, root: Root, tmp_path: Path):
        for name in ("a.0", "b.0", "c.0"):
            root.rows(name)
        done = generations(tmp_path, "prune", "--no-instance", "--keep", "1")
        assert done.stdout.count("would remove exports/nemo-gym/") == 2
        assert "nothing is removed without --yes" in done.stdout
        assert len(list((root.path / "nemo-gym" / DAY).iterdir())) == 3
        done = generations(tmp_path, "prune", "--no-instance", "--keep", "1", "--delete")
        assert "removed 2 of 2 generations, " in done.stdout
        assert [path.name for path in (root.path / "nemo-gym" / DAY).iterdir()] == ["c.0"]

    def test_without_an_instance_it_must_be_said(self, root: Root, tmp_path: Path):
        root.rows("a.0")
        done = generations(tmp_path, "prune", "--yes")
        assert (done.returncode, done.stdout) == (1, "")
        assert "say --no-instance if there is none" in done.stderr

    @pytest.mark.parametrize("command", ["prune", "register"])
    def test_where_there_is_nothing_no_instance_is_made(self, tmp_path: Path, command: str):
        settings = {
            "SEDIMENT_ORG_ID": "acme",
            "SEDIMENT_DATABASE_URL": "sqlite:///facts.db",
            "SEDIMENT_MIRROR_PATH": "mirrors",
        }
        done = generations(tmp_path, command, **settings)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == "error: exports: expected an export root (SEDIMENT_EXPORT_ROOT), got no directory\n"
        (tmp_path / "exports").mkdir()
        done = generations(tmp_path, command, **settings)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("exports: no generations in the layout ")
        assert [path.name for path in tmp_path.iterdir()] == ["exports"]

    @pytest.mark.parametrize("keep", ["0", "-1", "many"])
    def test_at_least_one_is_kept(self, tmp_path: Path, keep: str):
        done = generations(tmp_path, "prune", "--keep", keep)
        assert done.returncode == 2
        assert "expected a number of generations, at least 1" in done.stderr
