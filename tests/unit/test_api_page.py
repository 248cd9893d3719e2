"""The examples of docs/api.md run as printed, in order, on the demo evidence."""

import re
from pathlib import Path

import pytest

from sediment_assets.demo import plant_evidence

PAGE = Path(__file__).parents[2] / "docs" / "api.md"


def test_every_example_of_the_api_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant_evidence(tmp_path)
    (tmp_path / "policy.toml").write_text("schema_version = 1\n")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)  # the page is ours
    assert len(blocks) == 7
    assert names["summary"].task_rows == 20  # type: ignore[attr-defined]
    assert names["record"].rollouts == 30  # type: ignore[attr-defined]
    assert len(names["rows"]) == 18  # type: ignore[arg-type]
    assert names["diff"].differences == ()  # type: ignore[attr-defined]
    assert len(names["explanation"].published) == 1  # type: ignore[attr-defined]
    written = {path.name for path in (tmp_path / "rows" / "nemo-gym").glob("*.jsonl")}
    assert written == {"rollouts.eval.jsonl", "rollouts.train.jsonl"}
