"""What is kept last stays within a bound."""

from sediment_assets.recent import Recent


def test_what_was_kept_longest_ago_is_forgotten_first():
    recent = Recent[str, str](10, len)
    for key in "abc":
        recent.keep(key, key * 4)
    assert [recent.get(key) for key in "abc"] == [None, "bbbb", "cccc"]


def test_keeping_again_makes_a_value_the_latest_and_counts_it_once():
    recent = Recent[str, str](10, len)
    recent.keep("a", "aaaa")
    recent.keep("b", "bbbb")
    recent.keep("a", "aa")
    recent.keep("c", "cccc")
    assert [recent.get(key) for key in "abc"] == ["aa", "bbbb", "cccc"]
    recent.keep("d", "d")
    assert [recent.get(key) for key in "abcd"] == ["aa", None, "cccc", "d"]


def test_a_value_beyond_the_bound_is_not_kept_and_leaves_nothing_else():
    recent = Recent[str, str](10, len)
    recent.keep("a", "a")
    recent.keep("b", "b" * 11)
    assert recent.get("a") is None
    assert recent.get("b") is None
    recent.keep("c", "c" * 10)
    assert recent.get("c") == "c" * 10
