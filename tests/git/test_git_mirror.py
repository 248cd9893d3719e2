"""What a mirror answers, question by question (mirrors.md §5, §6.1; derivation.md §9, §9.1)."""

import threading
from itertools import permutations
from random import Random

import pytest

from sediment_assets.adapters import git_history
from sediment_assets.adapters.git_mirror import GitMirror
from sediment_assets.mirrors.patch_sections import is_code_file, parse_sections
from sediment_assets.mirrors.reader import MirrorError
from tests.git.patch_cases import EDITED, LATIN, LINES
from tests.git.repositories import (
    EPOCH,
    LINK,
    PROGRAM,
    File,
    commit,
    fast_import,
    git,
    init,
    linear,
    object_path,
    unpack,
)

MISSING = "d" * 40
ZERO = "0" * 40


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """The graph of mirrors.md §5: c0 <- c1 <- c2, s1 on c1, m merges c2 and s1; times ascend c0 c1 c2 s1 m."""
    repository = init(tmp_path_factory.mktemp("graph") / "m")
    stream = (
        commit(1, {b"a": b"0\n"})
        + commit(2, {b"a": b"1\n"}, parents=[1])
        + commit(3, {b"a": b"2\n"}, parents=[2])
        + commit(4, {b"s": b"1\n"}, parents=[2], branch="side")
        + commit(5, {b"s": b"1\n"}, parents=[3, 4])
    )
    shas = dict(zip(("c0", "c1", "c2", "s1", "m"), fast_import(repository, stream), strict=True))
    for name, target in (("v1", shas["c1"]), ("vtree", f"{shas['c1']}^{{tree}}"), ("vv", "v1")):
        identity = {"GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.test"}
        git(repository, "tag", "-a", "-m", "t", name, target, **identity, GIT_COMMITTER_DATE=f"{EPOCH} +0000")
        shas[name] = git(repository, "rev-parse", name).decode().strip()
    shas["tree"] = git(repository, "rev-parse", "main^{tree}").decode().strip()
    shas["blob"] = git(repository, "rev-parse", "main:a").decode().strip()
    with GitMirror(repository) as mirror:
        yield mirror, shas


@pytest.mark.parametrize(
    ("name", "exists"),
    [("c0", True), ("m", True), ("v1", True), ("vv", True), ("vtree", False), ("tree", False), ("blob", False)],
)
def test_commit_exists_when_the_object_peels_to_one(graph, name, exists):
    mirror, shas = graph
    assert mirror.commit_exists(shas[name]) is exists


@pytest.mark.parametrize("sha", [MISSING, ZERO, "", "main", "HEAD", "c" * 7, "--help", "a\nb", "\u0661" * 40])
def test_anything_else_does_not_exist(graph, sha):
    mirror, _ = graph
    assert not mirror.commit_exists(sha)


def test_abbreviations_do_not_exist(graph):
    mirror, shas = graph
    assert not mirror.commit_exists(shas["c0"][:39])
    assert not mirror.commit_exists(shas["c0"].upper())


def test_first_parent(graph):
    mirror, shas = graph
    assert mirror.first_parent(shas["c0"]) is None
    assert mirror.first_parent(shas["m"]) == shas["c2"]
    assert mirror.first_parent(shas["v1"]) == shas["c0"]
    with pytest.raises(MirrorError, match=MISSING):
        mirror.first_parent(MISSING)


@pytest.mark.parametrize("steps", [64, 0])
@pytest.mark.parametrize(
    ("ancestor", "descendant", "expected"),
    [
        *(("c0", "m", True), ("s1", "m", True), ("m", "m", True), ("c0", "c0", True), ("v1", "m", True)),
        *(("m", "c0", False), ("s1", "c2", False), ("c2", "s1", False), ("c1", "v1", True)),
    ],
)
def test_ancestry_includes_the_commit_itself(graph, monkeypatch, ancestor, descendant, expected, steps):
    monkeypatch.setattr(git_history, "_ANCESTRY_STEPS", steps)  # 0: git itself answers
    mirror, shas = graph
    assert mirror.is_ancestor(shas[ancestor], shas[descendant]) is expected


def test_ancestry_of_missing_commits_is_an_error(graph):
    mirror, shas = graph
    for pair in ((MISSING, shas["m"]), (shas["m"], MISSING), (MISSING, MISSING), (shas["tree"], shas["m"])):
        with pytest.raises(MirrorError):
            mirror.is_ancestor(*pair)


def test_ancestry_with_wrong_clocks(tmp_path):
    repository = init(tmp_path / "m")
    parents = [[], *([n] for n in range(1, 8))]
    stream = [commit(n, {b"a": b"%d\n" % n}, parents=parents[n - 1], time=EPOCH - 90 * n) for n in range(1, 9)]
    shas = fast_import(repository, b"".join(stream))
    with GitMirror(repository) as mirror:
        assert mirror.is_ancestor(shas[0], shas[7])
        assert not mirror.is_ancestor(shas[7], shas[0])


@pytest.mark.parametrize("steps", [64, 0])
def test_broken_history_is_an_error_not_an_answer(tmp_path, monkeypatch, steps):
    monkeypatch.setattr(git_history, "_ANCESTRY_STEPS", steps)
    repository = tmp_path / "m"
    shas = linear(repository, *({b"a": b"%d\n" % n} for n in range(6)))
    unpack(repository)
    object_path(repository, shas[2]).unlink()
    with GitMirror(repository) as mirror:
        with pytest.raises(MirrorError):
            mirror.is_ancestor(shas[0], shas[5])
        assert mirror.first_parent(shas[3]) == shas[2]
        assert mirror.push_commits(shas[0], shas[5], False, 20) == [shas[5]]


def test_committer_time(graph):
    mirror, shas = graph
    assert mirror.committer_time(shas["c0"]) == EPOCH + 60
    assert mirror.committer_time(shas["m"]) == EPOCH + 300
    for other in ("v1", "tree", "blob"):
        assert mirror.committer_time(shas[other]) == 0
    for other in (MISSING, ZERO, "", "main"):
        assert mirror.committer_time(other) == 0


@pytest.mark.parametrize(
    ("committer", "expected"),
    [
        ("A <a@b> 123 +0100", 123),
        ("A > B <a@b> 123 -0730", 123),
        ("A <a@b>> 123 +0000", 123),
        ("A <a@b>  123  +0000", 123),
        ("A <a@b> 00123 +0000", 123),
        ("A <a@b> 99999999999 +0000", 99999999999),
        ("A <a@b> -5 +0000", 0),
        ("A <a@b> 123", 0),
        ("A <a@b> x +0000", 0),
        ("A <a@b>", 0),
        ("A a@b 123 +0000", 0),
        ("A <a@b> " + "9" * 5000 + " +0000", 0),
    ],
)
def test_committer_line_is_read_as_git_reads_it(tmp_path, committer, expected):
    repository = init(tmp_path / "m")
    tree = git(repository, "hash-object", "-t", "tree", "-w", "--stdin", stdin=b"").decode().strip()
    text = f"tree {tree}\nauthor X <x@y> 7 +0000\ncommitter {committer}\n\nm\n".encode()
    sha = git(repository, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=text).decode().strip()
    with GitMirror(repository) as mirror:
        assert mirror.committer_time(sha) == expected
        assert mirror.commit_exists(sha)
    said = git(repository, "show", "-s", "--format=%ct", sha).decode().split()
    assert (int(said[0]) if said and len(said[0]) < 4000 else 0) == expected


@pytest.mark.parametrize(
    ("before", "after", "forced", "limit", "expected"),
    [
        ("c0", "m", False, 20, "c1 c2 s1 m"),
        ("c0", "m", False, 2, "s1 m"),
        ("c0", "m", False, 0, "m"),
        ("c0", "m", False, 2**32 + 1, "c1 c2 s1 m"),
        ("c0", "m", False, 10**30, "c1 c2 s1 m"),
        ("c0", "m", True, 20, "m"),
        ("m", "m", False, 20, "m"),
        ("m", "c0", False, 20, "c0"),
        ("c0", "c2", False, 20, "c1 c2"),
        ("c0", "c2", False, 1, "c2"),
        ("s1", "c2", False, 20, "c2"),
        ("s1", "m", False, 20, "c2 m"),
        ("c0", "v1", False, 20, "c1"),
        ("v1", "c2", False, 20, "c2"),
        (ZERO, "m", False, 20, "m"),
        ("0" * 64, "m", False, 20, "m"),
        (MISSING, "m", False, 20, "m"),
        ("tree", "m", False, 20, "m"),
        ("c0", ZERO, False, 20, ZERO),
        ("c0", MISSING, False, 20, MISSING),
    ],
)
def test_push_commits(graph, before, after, forced, limit, expected):
    mirror, shas = graph
    got = mirror.push_commits(shas.get(before, before), shas.get(after, after), forced, limit)
    assert got == [shas.get(name, name) for name in expected.split()]


def test_chain_that_leaves_before_beside_it_is_cut_where_git_cuts_it(tmp_path):
    """An unforced Push whose ``before`` is no ancestor, but shares history."""
    repository = init(tmp_path / "m")
    chain = [commit(n, {b"a": b"%d\n" % n}, parents=[n - 1][: n > 1]) for n in range(1, 7)]
    shas = fast_import(repository, b"".join(chain) + commit(7, {b"b": b"b\n"}, parents=[3], branch="side"))
    with GitMirror(repository) as mirror:
        assert mirror.push_commits(shas[6], shas[5], False, 20) == shas[3:6]
        assert mirror.push_commits(shas[6], shas[5], False, 2) == shas[4:6]


@pytest.mark.parametrize("clocks", ["right", "equal", "wrong"])
def test_ranges_over_merges_are_those_of_git(tmp_path, clocks):
    """Any two commits of a tangled history, in both directions."""
    chance = Random(clocks)
    repository, number = init(tmp_path / "m"), 14
    stream = b""
    for mark in range(1, number + 1):
        earlier = range(max(1, mark - 5), mark)
        parents = chance.sample(earlier, min(len(earlier), chance.choice([1, 1, 2, 3]))) if mark > 1 else ()
        minutes = {"right": mark, "equal": mark // 3, "wrong": chance.randrange(number)}[clocks]
        stream += commit(mark, {b"a": b"%d\n" % mark}, parents=parents, branch=f"b{mark}", time=EPOCH + 60 * minutes)
    shas = fast_import(repository, stream)
    with GitMirror(repository) as mirror:
        for before, after in permutations(shas, 2):
            limit = chance.choice([20, 20, 2])
            listed = git(repository, "rev-list", f"--max-count={limit}", f"{before}..{after}").decode().split()
            assert mirror.push_commits(before, after, False, limit) == (listed[::-1] or [after])


def test_long_histories_are_left_to_git(tmp_path):
    shas = linear(tmp_path / "m", *({b"a": b"%d\n" % n} for n in range(200)))
    with GitMirror(tmp_path / "m") as mirror:
        assert mirror.is_ancestor(shas[0], shas[199])
        assert not mirror.is_ancestor(shas[199], shas[0])
        assert mirror.push_commits(shas[0], shas[199], False, 150) == shas[50:]
        assert mirror.push_commits(shas[0], shas[60], False, 3) == shas[58:61]


def test_refs_are_all_refs_by_name_without_head(graph):
    mirror, shas = graph
    assert list(mirror.refs().items()) == [
        ("refs/heads/main", shas["m"]),
        ("refs/heads/side", shas["s1"]),
        ("refs/tags/v1", shas["v1"]),
        ("refs/tags/vtree", shas["vtree"]),
        ("refs/tags/vv", shas["vv"]),
    ]


def test_repository_without_refs_has_none(tmp_path):
    with GitMirror(init(tmp_path / "m")) as mirror:
        assert mirror.refs() == {}
        assert list(mirror.notes()) == []
        assert not mirror.commit_exists(MISSING)


# Attribution text


def counters(mirror, sha):
    """Scored files and section counters of one commit (derivation.md §9 step 7)."""
    sections, counts = parse_sections(mirror.commit_patch(sha))
    scored = [section.path for section in sections if is_code_file(section.path) and section.added_text.strip()]
    return scored, dict(counts)


@pytest.mark.parametrize(
    ("before", "after", "scored", "counts"),
    [
        ({b"a.py": b"x\n"}, {b"a.md": b"text\n"}, [], {}),
        ({b"a.py": b"x\n"}, {}, [], {}),
        ({b"a.py": b"x\n"}, {b"new.py": b""}, [], {}),
        ({b"a.py": b"x\ny\n"}, {b"a.py": b"x\n"}, [], {}),
        ({b"a.py": b"x\n"}, {b"a.py": None, b"b.md": b"k\n"}, [], {}),
        ({b"a.py": LINES}, {b"a.py": None, b"b.py": LINES}, [], {}),
        ({b"a.py": LINES}, {b"a.py": File(LINES, PROGRAM)}, [], {}),
        ({b"a.py": b"x\n"}, {b"a.py": b"x\n \n\t\n"}, [], {}),
        ({b"a.py": b"x\n"}, {b"logo.png": b"\0\1"}, [], {"unsupported_diff_section": 1}),
        ({b"a.py": b"x\n"}, {b"a.py": b"\0\1"}, [], {"unsupported_diff_section": 1}),
        ({b"a.py": b"x\n"}, {b"a.py": b"y\n", b"b.ts": b"z\n"}, ["a.py", "b.ts"], {}),
        ({b"a.py": b"x\n"}, {b"a.py": b"y\n", b"b.bin": b"\0"}, ["a.py"], {"unsupported_diff_section": 1}),
        ({b"a.py": b"x\n"}, {b"a.py": b"x\nlone\rcr\n"}, [], {"malformed_diff_section": 1}),
        ({b"a.py": b"x\r\n"}, {b"a.py": b"y\r\n"}, ["a.py"], {}),
        ({b"a.py": b"x\n"}, {b"dep": File(b"1" * 40, "160000")}, [], {"unsupported_diff_section": 1}),
        ({b"a.py": b"x\n"}, {b"l.py": File(b"target", LINK)}, ["l.py"], {}),
        ({b"a.py": LATIN}, {b"a.py": LATIN + b"\xe9\n"}, ["a.py"], {}),
        ({b"a b.py": b"x\n"}, {b"a b.py": b"y\n", b't"\t.py': b"z\n"}, ["a b.py", 't"\t.py'], {}),
    ],
)
def test_sections_of_a_commit(tmp_path, before, after, scored, counts):
    _, head = linear(tmp_path / "m", before, after)
    with GitMirror(tmp_path / "m") as mirror:
        assert counters(mirror, head) == (scored, counts)


def test_commit_patch_is_decoded_text(tmp_path):
    _, head = linear(
        tmp_path / "m", {b"a": b"one\r\ntwo\r\n"}, {b"a": b"one\r\nl2x\r\n\xe9\rz\n", "é".encode(): b"k\n"}
    )
    with GitMirror(tmp_path / "m") as mirror:
        patch = mirror.commit_patch(head)
    assert "\r" not in patch
    assert "\n+l2x\n+\ufffd\nz\n" in patch
    assert "+++ b/é\n" in patch


def test_merge_is_compared_with_its_first_parent(graph):
    mirror, shas = graph
    assert [section.path for section in parse_sections(mirror.commit_patch(shas["m"]))[0]] == ["s"]


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_root_is_compared_with_the_empty_tree(tmp_path, object_format):
    [root] = linear(tmp_path / "m", {b"a.py": b"x\n"}, object_format=object_format)
    with GitMirror(tmp_path / "m") as mirror:
        assert counters(mirror, root) == (["a.py"], {})
        assert mirror.commit_patch(root).encode() == git(
            tmp_path / "m", "diff-tree", "-p", "--root", "--no-commit-id", root
        )


def test_empty_commit_has_the_empty_patch(tmp_path):
    _, head = linear(tmp_path / "m", {b"a": b"x\n"}, {})
    with GitMirror(tmp_path / "m") as mirror:
        assert mirror.commit_patch(head) == ""


@pytest.mark.parametrize("sha", [MISSING, ZERO, "", "main"])
def test_patch_of_no_commit_is_an_error(graph, sha):
    mirror, _ = graph
    with pytest.raises(MirrorError):
        mirror.commit_patch(sha)


def test_shallow_boundary_is_a_root(tmp_path):
    repository = tmp_path / "m"
    first, second = linear(repository, {b"a": b"1\n"}, {b"a": b"2\n"})
    (repository / "shallow").write_text(f"{second}\n")
    with GitMirror(repository) as mirror:
        assert mirror.first_parent(second) is None
        assert not mirror.is_ancestor(first, second)
        assert mirror.commit_patch(second).count("new file mode") == 1


def test_threads_share_one_mirror(graph):
    mirror, shas = graph
    wanted = {sha: mirror.commit_patch(sha) for sha in (shas[name] for name in ("c0", "c1", "c2", "s1", "m"))}
    wrong = []

    def ask(offset):
        order = list(wanted)[offset:] + list(wanted)[:offset]
        for _ in range(20):
            wrong.extend(sha for sha in order if mirror.commit_patch(sha) != wanted[sha])
            wrong.extend([] if mirror.is_ancestor(shas["c0"], shas["m"]) else ["ancestry"])

    threads = [threading.Thread(target=ask, args=(offset,)) for offset in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_working_repository_with_attributes_is_read_like_a_bare_one(tmp_path):
    work = tmp_path / "work"
    base, head = linear(tmp_path / "m", {b"a.py": LINES}, {b"a.py": EDITED})
    git(tmp_path, "clone", "--quiet", "m", "work")
    (work / ".gitattributes").write_text("* -diff\n")
    with GitMirror(tmp_path / "m") as bare, GitMirror(work / ".git") as other:
        assert other.commit_patch(head) == bare.commit_patch(head)
        assert other.reference_patch(base, head) == bare.reference_patch(base, head)


def test_patches_asked_for_together_are_those_asked_for_one_by_one(tmp_path):
    """Whatever else is asked, or closed, between two of them; a commit that is missing takes its own place only."""
    shas = linear(tmp_path / "m", *({b"a": b"%d\n" % n * 2000} for n in range(60)))
    with GitMirror(tmp_path / "m") as mirror:
        wanted = [mirror.commit_patch(sha) for sha in shas]
        order = [*shas[:40], MISSING, *shas[40:]]
        mirror.prepare(order)
        found = []
        for number, patch in enumerate(mirror.commit_patches(order)):
            found.append(patch)
            if number == 3:
                assert mirror.commit_patch(shas[50]) == wanted[50]
            if number == 30:
                mirror.close()
            if number == 45:
                assert list(mirror.commit_patches(shas[:3])) == wanted[:3]
        assert isinstance(found.pop(40), MirrorError)
        assert found == wanted


def test_a_patch_whose_tree_is_missing_leaves_the_others(tmp_path):
    shas = linear(tmp_path / "m", *({b"a": b"%d\n" % n} for n in range(6)))
    unpack(tmp_path / "m")
    object_path(tmp_path / "m", git(tmp_path / "m", "rev-parse", f"{shas[3]}^{{tree}}").decode().strip()).unlink()
    with GitMirror(tmp_path / "m") as mirror:
        found = list(mirror.commit_patches(shas))
        assert [isinstance(patch, MirrorError) for patch in found] == [False, False, False, True, True, False]
