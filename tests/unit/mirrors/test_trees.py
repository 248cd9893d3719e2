"""Tree objects, their differences, and the tree of the notes ref."""

import pytest

from sediment_assets.mirrors.notes_tree import join_bodies, list_notes
from sediment_assets.mirrors.reader import MirrorError
from sediment_assets.mirrors.trees import TreeChange, TreeEntry, canonical_mode, parse_tree, tree_changes

A, B, C = (f"{number:040x}" for number in (0xA, 0xB0A000A, 0xC))  # one id holds LF and NUL bytes
FILE, PROGRAM = 0o100644, 0o100755


def tree(**entries: tuple[str, str]) -> bytes:
    """Spell a tree: name to (mode text, id)."""
    return b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(oid) for name, (mode, oid) in entries.items())


class Trees(dict[str, bytes]):
    """Tree objects by id; records what was read."""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.seen: list[str] = []

    def read(self, oids):
        self.seen += oids
        return [self[oid] for oid in oids]


def test_entries_are_read_whatever_their_ids_hold():
    data = tree(a=("100644", A), b=("40000", B))
    assert parse_tree(data, 40) == [(b"100644", b"a", bytes.fromhex(A)), (b"40000", b"b", bytes.fromhex(B))]
    assert parse_tree(b"", 40) == []
    assert parse_tree(b"100644 x\0" + b"\n" * 32, 64) == [(b"100644", b"x", b"\n" * 32)]


@pytest.mark.parametrize("data", [b"x", tree(a=("100644", A))[:-1], tree(a=("100644", A)) + b"1", b"9 a\0" + b"0" * 20])
def test_other_bytes_are_no_tree(data):
    with pytest.raises(MirrorError):
        parse_tree(data, 40)


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        *((b"100644", FILE), (b"100755", PROGRAM), (b"100664", FILE), (b"100775", PROGRAM), (b"100600", FILE)),
        *((b"40000", 0o40000), (b"040000", 0o40000), (b"120000", 0o120000), (b"160000", 0o160000)),
    ],
)
def test_mode_is_what_git_takes_it_for(text, mode):
    assert canonical_mode(text) == mode


def test_changes_name_files_on_both_sides():
    old, new, sub_old, sub_new = (f"{number:040x}" for number in range(1, 5))
    trees = Trees(
        {
            old: tree(same=("100644", A), edit=("100644", A), gone=("100644", A), d=("40000", sub_old)),
            new: tree(same=("100644", A), edit=("100755", A), come=("120000", B), d=("40000", sub_new)),
            sub_old: tree(x=("100644", A), k=("100644", C)),
            sub_new: tree(x=("100644", B), k=("100644", C)),
        }
    )
    changes = tree_changes(trees.read, old, new)
    assert changes.canonical
    assert changes.paths == {
        b"edit": TreeChange(TreeEntry(FILE, A), TreeEntry(PROGRAM, A)),
        b"gone": TreeChange(TreeEntry(FILE, A), None),
        b"come": TreeChange(None, TreeEntry(0o120000, B)),
        b"d/x": TreeChange(TreeEntry(FILE, A), TreeEntry(FILE, B)),
    }


def test_directory_that_replaces_a_file_is_changes_of_both():
    old, new, sub = (f"{number:040x}" for number in range(1, 4))
    trees = Trees({old: tree(x=("100644", A)), new: tree(x=("40000", sub)), sub: tree(y=("100644", B))})
    forth = tree_changes(trees.read, old, new).paths
    assert forth == {b"x": TreeChange(TreeEntry(FILE, A), None), b"x/y": TreeChange(None, TreeEntry(FILE, B))}
    back = tree_changes(trees.read, new, old).paths
    assert back == {path: TreeChange(change.new, change.old) for path, change in forth.items()}


def test_equal_directories_are_not_read():
    old, new, sub = (f"{number:040x}" for number in range(1, 4))
    trees = Trees({old: tree(a=("100644", A), d=("40000", sub)), new: tree(a=("100644", B), d=("40000", sub))})
    assert list(tree_changes(trees.read, old, new).paths) == [b"a"]
    assert trees.seen == [old, new]


def test_deep_directories_need_no_deep_stack():
    depth = 3000
    trees = Trees()
    for side, leaf in ((1, A), (2, B)):
        for level in range(depth):
            below = f"{side:020x}{level + 1:020x}"
            entry = ("100644", leaf) if level == depth - 1 else ("40000", below)
            trees[f"{side:020x}{level:020x}"] = tree(d=entry)
    [path] = tree_changes(trees.read, f"{1:020x}{0:020x}", f"{2:020x}{0:020x}").paths
    assert path == b"/".join([b"d"] * depth)


@pytest.mark.parametrize("mode", ["100664", "040000"])
def test_odd_spelling_is_reported_even_where_nothing_differs(mode):
    old, new, sub = (f"{number:040x}" for number in range(1, 4))
    plain = {"100664": "100644", "040000": "40000"}[mode]
    trees = Trees({old: tree(x=(mode, sub)), new: tree(x=(plain, sub)), sub: b""})
    changes = tree_changes(trees.read, old, new)
    assert not changes.canonical
    assert changes.paths == {}


def test_name_that_occurs_twice_is_reported():
    old, new = (f"{number:040x}" for number in range(1, 3))
    trees = Trees({old: tree(x=("100644", A)), new: tree(x=("100644", A)) + tree(x=("100644", B))})
    assert not tree_changes(trees.read, old, new).canonical


def test_notes_are_listed_by_object_id():
    sub, deep = (f"{number:040x}" for number in (7, 8))
    one, two, three = "b" * 40, "aa" + "c" * 38, "aabb" + "d" * 36
    root = tree(**{one: ("100644", A), "aa": ("40000", sub), "README": ("100644", C)})
    trees = Trees(
        {sub: tree(**{two[2:]: ("100644", B), "bb": ("40000", deep)}), deep: tree(**{three[4:]: ("100755", C)})}
    )
    listed = list_notes(trees.read, root, 40)
    assert list(listed.items()) == [(three, [C]), (two, [B]), (one, [A])]


@pytest.mark.parametrize(
    ("bodies", "joined"),
    [
        ([b"a"], b"a"),
        ([b"a\n", b"b\n"], b"a\n\nb\n"),
        ([b"a", b"b"], b"a\n\nb"),
        ([b"", b"b"], b"b"),
        ([b"a\n", b""], b"a\n"),
    ],
)
def test_two_notes_of_one_object_are_joined_by_a_blank_line(bodies, joined):
    assert join_bodies(bodies) == joined
