"""The asset graph as a reviewer sees it, after ``test_operation.py``: its pages in a headless Chromium."""

from tests.browser.conftest import Site

TASKS = "/assets/targets/sediment/tasks"
GROUPS = ("facts", "mirrors", "canonical", "targets", "targets/sediment", "targets/swe_bench", "targets/nemo_gym")


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
        "repositories",
        "commits",
        size="4000,4000",  # what is out of sight is not drawn
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
    assert lines[lines.index("skipped") :][2:7] == ["reason", "count", "unit", "Sessions", "meaning"]
    assert "mobile-offline-banner" in lines
    assert lines[lines.index("dagster/row_count") + 1] == "2"
    assert lines[lines.index("rollouts_considered") + 1] == "6"


def test_the_page_of_an_empty_day_says_that_there_is_nothing(site: Site):
    text = site.page(f"{TASKS}?view=partitions&partition=2026-11-07", "no rows", "rollouts_considered")
    lines = text.splitlines()
    assert lines[lines.index("dagster/row_count") + 1] == "0"
    assert lines[lines.index("skipped") + 1] == "none"
    assert lines[lines.index("files") + 1] == "none"


def test_the_checks_page_says_what_changed_and_why(site: Site):
    text = site.page(
        f"{TASKS}?view=checks",
        "Rows added 1, changed 1, equal 5; because of: new_ci_attempt.",
        "rows_added",
        "CI outcomes of the Session's commits arrived: another attempt or run.",
        "acme-ledger-balance-cache-",
    )
    lines = text.splitlines()
    names = ("changes_explained", "counts_add_up", "generation_intact", "rows_match_schema", "skips_are_known")
    places = [lines.index(name) for name in names]
    assert places == sorted(places)


def test_the_page_of_a_check_counts_each_reason_and_names_its_sessions(site: Site):
    text = site.page(
        f"{TASKS}?view=checks&checkDetail=skips_are_known",
        "skip/reference_patch_unavailable",
        "The verified commit's repository has no mirror.",
        "mobile-offline-banner",
    )
    lines = text.splitlines()
    assert lines[lines.index("skip/mirror_absent") + 1] == "1"
    assert lines[lines.index("skip/non_finite_number") + 1] == "0"


def test_observed_facts_show_their_table_and_counts(site: Site):
    text = site.page(
        "/assets/facts/ci_outcomes?view=overview", "One terminal CI run attempt.", "ci_outcomes", "commit_sha"
    )
    lines = text.splitlines()
    assert lines[lines.index("facts", lines.index("Metadata")) + 2] == "44"
