"""The proof without git never says "certain" where ``git apply`` would not rebuild the tree, and rarely hesitates."""

import zlib
from base64 import b85encode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sediment_assets.adapters.git_mirror import GitMirror
from sediment_assets.adapters.git_objects import GitObjects
from sediment_assets.adapters.git_patches import GitPatches
from sediment_assets.adapters.git_process import Git
from sediment_assets.adapters.patch_proof import PatchProver
from sediment_assets.mirrors.patch_rebuild import certainly_rebuilds
from sediment_assets.mirrors.reader import PatchProofError
from sediment_assets.mirrors.trees import TreeChanges, tree_changes
from tests.git.patch_cases import ALL
from tests.git.repositories import LINK, PROGRAM, File, applied_tree, git, init, linear, tree_of
from tests.profiles import examples

LINE = st.sampled_from(
    [
        b"",
        b"a",
        b"b",
        b"c",
        b"  a",
        b"\ta",
        b"a\r",
        b"\r",
        b"caf\xe9",
        "é".encode(),
        b"-a",
        b"+a",
        b"@@ -1 +1 @@",
        b"\\ No",
    ]
)
PLAIN_NAME = st.sampled_from([b"a", b"b", b"d/a", b"d/e/b", b"x y", "é".encode(), b".hidden", b"a b/a", b'q"', b"t\t"])


@st.composite
def contents(draw) -> bytes:
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=300)) * draw(st.integers(1, 5)) + b"\0"
    lines = draw(st.lists(LINE, max_size=30))
    return b"\n".join(lines) + (b"\n" if draw(st.booleans()) and lines else b"")


@st.composite
def histories(draw) -> list[dict[bytes, File | None]]:
    """Commits that write, edit, move and delete a few files."""
    alive: dict[bytes, File] = {}
    states = []
    for _ in range(5):
        changes: dict[bytes, File | None] = {}
        for name in draw(st.lists(PLAIN_NAME, min_size=1, max_size=5, unique=True)):
            kind = draw(st.integers(0, 9))
            if name in alive and kind < 2:
                changes[name] = None
            elif name in alive and kind < 4:
                target = draw(PLAIN_NAME)
                changes[target], changes[name] = alive[name], None if target != name else alive[name]
            else:
                mode = draw(st.sampled_from(["100644", "100644", PROGRAM, LINK]))
                data = draw(contents())
                changes[name] = File(data.replace(b"\0", b"0")[:60] + b"x" if mode == LINK else data, mode)
        for name, file in changes.items():
            if file is None:
                alive.pop(name, None)
            else:
                alive[name] = file
        states.append(changes)
    return states


class Prepared:
    """One repository, its commits' trees, and the means to prove patches between them."""

    def __init__(self, directory, states) -> None:
        self.directory = directory
        self.shas = linear(directory, *states)
        self.mirror = GitMirror(directory)
        git = Git(directory)
        self.objects, self.patches = GitObjects(git), GitPatches(git)
        self.prover = PatchProver(git, self.blobs, 40)

    def blobs(self, oids):
        return self.objects.contents(oids, "blob")

    def changes(self, old: str, new: str) -> TreeChanges:
        trees = (self.objects.commit(sha).tree for sha in (old, new))
        return tree_changes(lambda oids: self.objects.contents(oids, "tree"), *trees)

    def certain(self, old: str, new: str, patch: bytes) -> bool:
        return certainly_rebuilds(patch, self.changes(old, new), self.blobs, 40)

    def close(self) -> None:
        self.mirror.close()
        self.objects.close()
        self.patches.close()


@settings(max_examples=examples(10), suppress_health_check=list(HealthCheck))
@given(states=histories())
def test_random_histories_are_proven_and_rebuilt(tmp_path_factory, states):
    directory = tmp_path_factory.mktemp("history")
    prepared = Prepared(directory / "m", states)
    try:
        for old, new in zip(prepared.shas, prepared.shas[1:] + prepared.shas[:1], strict=True):
            patch = prepared.mirror.reference_patch(old, new)
            assert applied_tree(directory / "m", old, patch, directory / "s") == tree_of(directory / "m", new)
            changes = prepared.changes(old, new)
            plain = not any(
                len({entry.mode // 0o10000 for entry in change if entry is not None}) > 1
                for change in changes.paths.values()
            )
            nested = any(b"/".join(path.split(b"/")[:1]) in changes.paths for path in changes.paths if b"/" in path)
            if patch and plain and not nested:
                assert prepared.certain(old, new, patch.encode())
    finally:
        prepared.close()


@pytest.fixture(scope="module")
def every_case(tmp_path_factory):
    """All patch cases by name: (repository, base, head, patch)."""
    found = {}
    for number, (name, states) in enumerate(ALL.items()):
        prepared = Prepared(tmp_path_factory.mktemp("case") / str(number), states)
        patch = prepared.mirror.reference_patch(*prepared.shas)
        prepared.close()
        found[name] = (prepared, *prepared.shas, patch.encode())
    yield found
    for prepared, *_ in found.values():
        prepared.close()


LEFT_TO_GIT = ("symlink to", "to symlink", "to directory", "directory to", "a directory's name", "gitlink", "hostile")


def test_ordinary_patches_need_no_git(every_case):
    hesitant = [name for name, (prepared, *case) in every_case.items() if not prepared.certain(*case)]
    allowed = [name for name in every_case if any(word in name for word in LEFT_TO_GIT)]
    assert set(hesitant) <= {*allowed, "other: latin-1 name and content", "other: glob characters"}


@settings(max_examples=examples(400), suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(sorted(ALL)), data=st.data())
def test_damaged_patch_is_certain_only_if_git_agrees(every_case, tmp_path_factory, name, data):
    prepared, base, head, patch = every_case[name]
    damaged = data.draw(damage(patch))
    if damaged != patch and prepared.certain(base, head, damaged):
        prepared.prover._prove_paths(tmp_path_factory.mktemp("git"), prepared.changes(base, head), damaged)


@st.composite
def damage(draw, patch: bytes) -> bytes:
    lines = patch.split(b"\n")
    at = draw(st.integers(0, len(lines) - 1))
    other = draw(st.integers(0, len(lines) - 1))
    match draw(st.integers(0, 6)):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[other])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = lines[at].replace(b"1", b"2", 1)
        case 4:
            position = draw(st.integers(0, len(lines[at])))
            lines[at] = lines[at][:position] + draw(st.binary(max_size=2)) + lines[at][position + 1 :]
        case 5:
            lines[at] += draw(st.sampled_from([b" ", b"\t", b"\r", b"x", b"\0"]))
        case 6:
            lines = lines[:at]
    return b"\n".join(lines)


DAMAGE = [
    (b"+line twenty", b"+line TWENTY"),
    (b" line 19", b" line 91"),
    (b"-line 20", b"-line 02"),
    (b"+line 20.5\n", b""),
    (b"+line 20.5\n", b"+line 20.5\r\n"),
    (b"a.py", b"b.py"),
]


@pytest.mark.parametrize(("old", "new"), DAMAGE)
def test_wrong_patch_is_refused(tmp_path, old, new):
    prepared = Prepared(tmp_path / "m", ALL["utf-8: edit"])
    base, head = prepared.shas
    trees = [prepared.objects.commit(sha).tree for sha in (base, head)]
    patch = prepared.mirror.reference_patch(base, head).encode()
    assert old in patch
    with pytest.raises(PatchProofError, match="left out") as caught:
        prepared.prover.prove(*trees, prepared.changes(base, head), patch.replace(old, new))
    prepared.close()
    assert "\n" not in str(caught.value)


def test_wrong_payload_is_refused_though_the_mirror_has_the_right_content(tmp_path):
    """``git apply`` in the mirror itself looks the new content up by its id and accepts any payload."""
    prepared = Prepared(tmp_path / "m", ALL["utf-8: binary added"])
    base, head = prepared.shas
    trees = [prepared.objects.commit(sha).tree for sha in (base, head)]
    patch = prepared.mirror.reference_patch(base, head)
    head_part, _, _ = patch.partition("literal")
    wrong = head_part + literal(b"\0wrong") + literal(b"")
    assert applied_tree(tmp_path / "m", base, wrong, tmp_path / "s") == trees[1]
    with pytest.raises(PatchProofError):
        prepared.prover.prove(*trees, prepared.changes(base, head), wrong.encode())
    prepared.close()


def literal(data: bytes) -> str:
    deflated = zlib.compress(data)
    padded = deflated + b"\0" * (-len(deflated) % 4)
    return f"literal {len(data)}\n{chr(64 + len(deflated))}{b85encode(padded).decode()}\n\n"


@pytest.mark.parametrize("name", ["hostile names", "file to symlink", "gitlink moved", "symlink to directory"])
def test_wrong_patch_that_only_git_can_judge_is_refused(tmp_path, name):
    prepared = Prepared(tmp_path / "m", ALL[f"utf-8: {name}"])
    base, head = prepared.shas
    trees = [prepared.objects.commit(sha).tree for sha in (base, head)]
    patch = prepared.mirror.reference_patch(base, head).encode()
    sections = patch.split(b"diff --git ")
    shorter = b"diff --git ".join(sections[:-1]) if len(sections) > 2 else patch.replace(b"2" * 40, b"3" * 40)
    with pytest.raises(PatchProofError):
        prepared.prover.prove(*trees, prepared.changes(base, head), shorter)
    prepared.prover.prove(*trees, prepared.changes(base, head), patch)
    prepared.close()


ODD_MODES = {"both": ("100664", "100664"), "mended": ("100664", "100644"), "spoiled": ("100644", "100664")}


@pytest.mark.parametrize(("name", "provable"), [("both", False), ("mended", True), ("spoiled", False)])
def test_modes_that_git_does_not_write_are_proven_on_whole_trees(tmp_path, name, provable):
    """Other tools wrote modes such as 100664: git shows no difference, yet it would write another tree."""
    repository = init(tmp_path / "m")
    commits = []
    for content, mode in zip((b"one\n", b"two\n"), ODD_MODES[name], strict=True):
        blob = git(repository, "hash-object", "-w", "--stdin", stdin=content).decode().strip()
        data = mode.encode() + b" a\0" + bytes.fromhex(blob)
        tree = git(repository, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=data).decode().strip()
        text = f"tree {tree}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nm\n".encode()
        commits.append(git(repository, "hash-object", "-t", "commit", "-w", "--stdin", stdin=text).decode().strip())
    with GitMirror(repository) as mirror:
        if provable:
            patch = mirror.reference_patch(*commits)
            assert applied_tree(repository, commits[0], patch, tmp_path / "s") == tree_of(repository, commits[1])
        else:
            with pytest.raises(PatchProofError, match="file modes"):
                mirror.reference_patch(*commits)


@pytest.mark.parametrize("patch", [b"", b"\n", b"text\n"])
def test_patch_without_sections_is_refused_when_trees_differ(tmp_path, patch):
    prepared = Prepared(tmp_path / "m", ALL["utf-8: edit"])
    base, head = prepared.shas
    trees = [prepared.objects.commit(sha).tree for sha in (base, head)]
    with pytest.raises(PatchProofError):
        prepared.prover.prove(*trees, prepared.changes(base, head), patch)
    prepared.close()
