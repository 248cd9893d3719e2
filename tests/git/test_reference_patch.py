"""Reference patches apply exactly (design.md §7), whatever the files are."""

import pytest

from sediment_assets.adapters.git_mirror import GitMirror
from sediment_assets.mirrors.reader import MirrorError
from tests.git.patch_cases import ALL, EDITED, LATIN, LINES, OTHER, UTF8
from tests.git.repositories import (
    applied_tree,
    commit,
    content_of,
    fast_import,
    git,
    init,
    linear,
    object_path,
    tree_of,
    unpack,
)

PINNED = (
    *("--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color", "-M", "-l1000", "-U3"),
    *("--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/"),
)


def pinned_diff(repository, base, head, quote="false") -> bytes:
    config = ("-c", f"core.quotePath={quote}", "-c", "diff.suppressBlankEmpty=false")
    return git(repository, *config, "diff", *PINNED, base, head)


# The cases spell gitlinks with 40 digits.
IN_BOTH_FORMATS = [
    (case, object_format)
    for object_format in ("sha1", "sha256")
    for case in ALL
    if object_format == "sha1" or "gitlink" not in case
]


@pytest.mark.parametrize(("case", "object_format"), IN_BOTH_FORMATS)
def test_patch_rebuilds_the_tree_and_leaves_the_mirror_alone(tmp_path, case, object_format):
    repository = tmp_path / "m"
    states = ALL[case]
    base, head = linear(repository, *states, object_format=object_format)
    before = content_of(repository)
    with GitMirror(repository) as mirror:
        patch = mirror.reference_patch(base, head)
        back = mirror.reference_patch(head, base)
    assert applied_tree(repository, base, patch, tmp_path / "forth") == tree_of(repository, head)
    assert applied_tree(repository, head, back, tmp_path / "back") == tree_of(repository, base)
    assert content_of(repository) == before


@pytest.mark.parametrize("case", UTF8)
def test_utf8_patch_is_the_pinned_diff(tmp_path, case):
    base, head = linear(tmp_path / "m", *UTF8[case])
    with GitMirror(tmp_path / "m") as mirror:
        assert mirror.reference_patch(base, head).encode() == pinned_diff(tmp_path / "m", base, head)


@pytest.mark.parametrize("case", OTHER)
def test_other_patch_is_ascii_or_utf8_with_binary_payloads(tmp_path, case):
    base, head = linear(tmp_path / "m", *OTHER[case])
    with pytest.raises(UnicodeDecodeError):
        pinned_diff(tmp_path / "m", base, head).decode()
    with GitMirror(tmp_path / "m") as mirror:
        assert "\ufffd" not in mirror.reference_patch(base, head)


def test_only_files_that_are_not_utf8_become_binary(tmp_path):
    base, head = linear(tmp_path / "m", *OTHER["latin-1 beside utf-8"])
    with GitMirror(tmp_path / "m") as mirror:
        patch = mirror.reference_patch(base, head)
    assert patch.count("GIT binary patch") == 1
    assert 'diff --git "a/\\303\\251" "b/\\303\\251"' in patch
    assert "+line twenty" in patch


def test_unchanged_latin_1_line_makes_the_file_binary_only_when_the_patch_needs_it(tmp_path):
    far = LATIN + LINES
    base, head = linear(tmp_path / "m", {b"l": far}, {b"l": far.replace(b"line 30\n", b"line thirty\n")})
    with GitMirror(tmp_path / "m") as mirror:
        patch = mirror.reference_patch(base, head)
    assert "+line thirty" in patch
    assert "GIT binary patch" not in patch


def test_equal_trees_give_the_empty_patch(tmp_path):
    first, _, third = linear(tmp_path / "m", {b"a": LINES}, {b"a": EDITED}, {b"a": LINES})
    with GitMirror(tmp_path / "m") as mirror:
        assert mirror.reference_patch(first, third) == ""
        assert mirror.reference_patch(first, first) == ""


def test_patch_may_run_against_history(tmp_path):
    first, second = linear(tmp_path / "m", {b"a": LINES}, {b"a": EDITED})
    with GitMirror(tmp_path / "m") as mirror:
        patch = mirror.reference_patch(second, first)
    assert applied_tree(tmp_path / "m", second, patch, tmp_path / "s") == tree_of(tmp_path / "m", first)


def test_range_through_a_merge(tmp_path):
    repository = init(tmp_path / "m")
    stream = (
        commit(1, {b"a": LINES, b"b": LINES})
        + commit(2, {b"a": EDITED}, parents=[1])
        + commit(3, {b"b": EDITED}, parents=[1], branch="side")
        + commit(4, {b"b": EDITED}, parents=[2, 3])
    )
    root, first, _, merge = fast_import(repository, stream)
    with GitMirror(repository) as mirror:
        assert mirror.reference_patch(root, merge).encode() == pinned_diff(repository, root, merge)
        assert "a/a" not in mirror.reference_patch(first, merge)


def test_tag_ids_are_peeled(tmp_path):
    repository = tmp_path / "m"
    base, head = linear(repository, {b"a": LINES}, {b"a": EDITED})
    identity = {"GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.test"}
    git(repository, "tag", "-a", "-m", "v", "v1", head, GIT_COMMITTER_DATE="1772355600 +0000", **identity)
    tag = git(repository, "rev-parse", "v1").decode().strip()
    with GitMirror(repository) as mirror:
        assert mirror.reference_patch(base, tag) == mirror.reference_patch(base, head)


def test_many_renames_within_the_limit_are_found(tmp_path):
    before = {b"old/%d" % n: b"%d\n" % n + LINES for n in range(40)}
    after = {**dict.fromkeys(before), **{b"new/%d" % n: b"%d!\n" % n + LINES for n in range(40)}}
    base, head = linear(tmp_path / "m", before, after)
    with GitMirror(tmp_path / "m") as mirror:
        assert mirror.reference_patch(base, head).count("rename from") == 40


HOSTILE_CONFIG = """
[diff]
    noprefix = true
    mnemonicPrefix = true
    external = false
    renames = copies
    context = 9
    algorithm = patience
    suppressBlankEmpty = true
    orderFile = {home}/order
    relative = true
    submodule = log
    ignoreSubmodules = all
    indentHeuristic = false
    interHunkContext = 50
[diff "shout"]
    textconv = tr a-z A-Z <
    xfuncname = ^line
    binary = true
[color]
    ui = always
    diff = always
[core]
    quotePath = true
    abbrev = 40
    attributesFile = {home}/attributes
    pager = false
    bigFileThreshold = 1
    autocrlf = true
[apply]
    whitespace = error
"""


@pytest.fixture
def hostile_home(tmp_path, monkeypatch):
    """A caller whose every configuration and GIT variable would change patches."""
    home = tmp_path / "home"
    (home / ".config/git").mkdir(parents=True)
    config = HOSTILE_CONFIG.format(home=home)
    (home / ".gitconfig").write_text(config)
    (home / ".config/git/config").write_text(config)
    (home / ".config/git/attributes").write_text("* diff=shout\n")
    (home / "attributes").write_text("* diff=shout\n*.bin diff\n")
    (home / "order").write_text("z*\n")
    for name, value in {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_SYSTEM": str(home / ".gitconfig"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "diff.noprefix",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_EXTERNAL_DIFF": "false",
        "GIT_DIFF_OPTS": "-u9",
        "GIT_DIR": "/nonexistent",
        "GIT_WORK_TREE": str(home),
        "GIT_INDEX_FILE": "/nonexistent",
        "GIT_OBJECT_DIRECTORY": "/nonexistent",
        "GIT_NAMESPACE": "other",
        "GIT_PAGER": "false",
        "LC_ALL": "de_DE.UTF-8",
        "LANGUAGE": "de",
    }.items():
        monkeypatch.setenv(name, value)
    return home


@pytest.mark.parametrize("case", ["edit", "symlink moved", "binary modified", "non-ascii name", "renamed and edited"])
def test_callers_configuration_changes_nothing(tmp_path, hostile_home, case):
    base, head = linear(tmp_path / "m", *UTF8[case])
    with GitMirror(tmp_path / "m") as mirror:
        assert mirror.reference_patch(base, head).encode() == pinned_diff(tmp_path / "m", base, head)
        text = mirror.commit_patch(head)
    expected = git(tmp_path / "m", "-c", "core.quotePath=false", "diff-tree", "-p", "-M", "--no-commit-id", base, head)
    assert text.encode() == expected


def test_mirrors_own_configuration_changes_nothing(tmp_path, hostile_home):
    base, head = linear(tmp_path / "m", *UTF8["edit"])
    expected = pinned_diff(tmp_path / "m", base, head)
    with (tmp_path / "m/config").open("a") as config:
        config.write(HOSTILE_CONFIG.format(home=hostile_home))
    with GitMirror(tmp_path / "m") as mirror:
        assert mirror.reference_patch(base, head).encode() == expected


def test_replace_refs_and_grafts_are_not_followed(tmp_path):
    repository = tmp_path / "m"
    first, second, third = linear(repository, {b"a": LINES}, {b"a": EDITED}, {b"a": b"x\n"})
    git(repository, "replace", second, third)
    (repository / "info").mkdir(exist_ok=True)
    (repository / "info/grafts").write_text(f"{third}\n")
    with GitMirror(repository) as mirror:
        assert "line twenty" in mirror.reference_patch(first, second)
        assert mirror.first_parent(third) == second


@pytest.mark.parametrize("missing", ["blob", "tree", "commit"])
def test_missing_object_is_an_error_and_the_next_question_is_answered(tmp_path, missing):
    repository = tmp_path / "m"
    base, head = linear(repository, {b"d/a": LINES, b"k": b"k\n"}, {b"d/a": EDITED})
    unpack(repository)
    name = {"blob": f"{head}:d/a", "tree": f"{head}:d", "commit": base}[missing]
    oid = git(repository, "rev-parse", name).decode().strip()
    object_path(repository, oid).unlink()
    with GitMirror(repository) as mirror:
        with pytest.raises(MirrorError, match=oid[:12]):
            mirror.reference_patch(base, head)
        assert mirror.reference_patch(head, head) == ""
        assert mirror.commit_exists(head)
        assert mirror.commit_exists(base) is (missing != "commit")


@pytest.mark.parametrize("revision", ["", "HEAD", "main", "--output=/tmp/x", "0" * 40, "a" * 39, "é", "A" * 40, "a\nb"])
def test_captured_text_that_is_no_object_id_is_an_error(tmp_path, revision):
    [only] = linear(tmp_path / "m", {b"a": LINES})
    with GitMirror(tmp_path / "m") as mirror:
        with pytest.raises(MirrorError):
            mirror.reference_patch(revision, only)
        with pytest.raises(MirrorError):
            mirror.reference_patch(only, revision)
